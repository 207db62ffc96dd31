import { type Metadata, own } from '../entry/metadata'
import { aliasesOf } from '../entry/names'

/** What of a text is code: fenced blocks and file paths, indexed in a column of their own for the vocabularies that weigh code. */

/** Characters that may stand in a path; a run of them is looked at once, so that finding paths is linear. */
const PATH_RUN = /[\w.@~/\\-]+/g
/** Longer runs are encoded data, such as base64. */
const LONGEST_PATH = 400
const PATH_ENDS = '.-~@/\\'
const EXTENSION = /^\w{1,8}$/
/** A name without a folder is a path only with one of these. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(
  'ts tsx js jsx mjs cjs py rs go java rb cs cpp cc c h sql md json toml yml yaml sh css html'.split(' '),
)

const FENCES = ['```', '~~~'] as const

/** More of it is not indexed. */
const MAX_CODE = 250_000

/** The path that a run of path characters is, without what a sentence puts behind it; null when it is none. */
function pathOf(run: string): string | null {
  if (run.length > LONGEST_PATH) return null
  let end = run.length
  while (end > 0 && PATH_ENDS.includes(run[end - 1] as string)) end--
  const dot = run.lastIndexOf('.', end - 1)
  const slash = Math.max(run.lastIndexOf('/', end - 1), run.lastIndexOf('\\', end - 1))
  if (dot <= slash + 1) return null
  const extension = run.slice(dot + 1, end)
  const known = slash >= 0 ? EXTENSION.test(extension) : KNOWN_EXTENSIONS.has(extension)
  return known ? run.slice(0, end) : null
}

/** Stretches between a line that opens a fence and the next line that begins with the same one. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let open: { readonly fence: string; readonly start: number } | null = null
  let size = 0
  for (let at = 0; at < text.length && size < MAX_CODE; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end + 1
    const fence = FENCES.find((one) => text.startsWith(one, at))
    if (open === null && fence !== undefined) open = { fence, start: next }
    else if (open !== null && fence === open.fence) {
      blocks.push(text.slice(open.start, at))
      size += at - open.start
      open = null
    }
    at = next
  }
  return blocks
}

/** Fenced code and file paths of a text, each path once. Linear in the length of the text. */
export function codeOf(text: string): string {
  const paths = new Set<string>()
  let size = 0
  for (const [run] of text.matchAll(PATH_RUN)) {
    const path = pathOf(run)
    if (path === null || paths.has(path)) continue
    paths.add(path)
    size += path.length + 1
    if (size > MAX_CODE) break
  }
  return [...fencedBlocks(text), ...paths].join('\n')
}

const stringAt = (metadata: Metadata | null, key: string, member: string): string => {
  const value = own(metadata, key)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
  const found = own(value, member)
  return typeof found === 'string' ? found : ''
}

/** The code block and the path of the file that metadata name (fabric contract §4); empty where they are none. */
export const codeOfMetadata = (metadata: Metadata | null): string =>
  [stringAt(metadata, 'codeBlock', 'code'), stringAt(metadata, 'fileContext', 'path'), ...aliasesOf(metadata)]
    .join('\n')
    .trim()
