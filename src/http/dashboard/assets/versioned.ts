/** Hashes a file (FNV-1a, 32 bits), so that each version has its own address and can be cached forever. */
function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(16)
}

/** Returns the address of a file with the version of its content. */
export const versioned = (path: string, content: string): string => `${path}?v=${digest(content)}`
