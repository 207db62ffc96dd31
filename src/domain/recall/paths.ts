/** Paths of files as memories name them and are asked for (fabric contract §1). */

/** With `/` for every backslash, and without a scheme of files, a leading `./` and the path of the project. */
export function normalPath(given: string, project: string | null = null): string {
  let path = given.replaceAll('\\', '/')
  if (path.startsWith('file://')) path = path.slice('file://'.length)
  // A scheme leaves a slash before a drive.
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

/** Whether two normal paths name one file: they are equal, or one is absolute and ends with the whole other. */
export const isSameFile = (a: string, b: string): boolean => a === b || endsWith(a, b) || endsWith(b, a)

/** The folder of a normal path, without a slash at its end; empty for that of a bare name. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The last segment of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
