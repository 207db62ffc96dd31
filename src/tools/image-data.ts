/**
 * Whether a string of a request is the base64 of an image, by where it stands: `images[].data` of a call, or of an item of
 * a batch. The same names inside metadata are metadata.
 */
export function isImageData(path: readonly (string | number)[]): boolean {
  // Requests of revision 2025-03-26 may stand in a list.
  const [params, args, ...rest] = typeof path[0] === 'number' ? path.slice(1) : path
  if (params !== 'params' || args !== 'arguments') return false
  const [images, index, data, ...more] = rest[0] === 'entries' || rest[0] === 'updates' ? rest.slice(2) : rest
  return images === 'images' && typeof index === 'number' && data === 'data' && more.length === 0
}
