/** Normalizes and compares file paths in memories and requests (fabric contract §1). */

/** Replaces backslashes with `/`, and removes `file://`, a leading `./` and the path of the project. */
export function normalPath(given: string, project: string | null = null): string {
  let path = given.replaceAll('\\', '/')
  if (path.startsWith('file://')) path = path.slice('file://'.length)
  // `file:///C:/` leaves a slash before the drive.
  if (isDrive(path.slice(1)) && path.startsWith('/')) path = path.slice(1)
  const own = project === null ? '' : withoutEnd(project.replaceAll('\\', '/'))
  if (own !== '' && path.startsWith(`${own}/`)) path = path.slice(own.length + 1)
  while (path.startsWith('./')) path = path.slice(2)
  return path
}

function withoutEnd(path: string): string {
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  return path.slice(0, end)
}

const DRIVE = /^[A-Za-z]:\//

const isDrive = (path: string): boolean => DRIVE.test(path)

const isAbsolute = (path: string): boolean => path.startsWith('/') || isDrive(path)

const endsWith = (path: string, other: string): boolean =>
  isAbsolute(path) && other !== '' && path.endsWith(other.startsWith('/') ? other : `/${other}`)

/** Whether two normalized paths name one file: they are equal, or one is absolute and ends with the other. */
export const isSameFile = (a: string, b: string): boolean => a === b || endsWith(a, b) || endsWith(b, a)

/** The folder of a normalized path, without a trailing slash; empty for a bare name. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The last segment of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
