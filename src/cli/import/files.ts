// Reads text files of other programs: UTF-8, or UTF-16 with a byte order mark; other encodings are reported.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Collector } from './collector'
import { RowProblem, SourceProblem } from './values'

export interface TextFile {
  readonly path: string
  /** Path from the given folder, with `/`. */
  readonly name: string
  /** Time of the file's last change, in milliseconds since 1970. */
  readonly at: number
}

/** Error codes of one file or folder that cannot be read; the rest of a source can be. */
const UNREADABLE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it no longer exists',
  EIO: 'the disk reports an error',
  ELOOP: 'its symbolic links form a cycle',
  ENAMETOOLONG: 'its path is too long',
  EBUSY: 'another program uses it',
}

/**
 * Runs a function that reads one file or folder of a source.
 *
 * @throws RowProblem for an error of the file system
 */
function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = UNREADABLE[code]
    throw reason === undefined ? error : new RowProblem(`cannot be read: ${reason} (${code})`)
  }
}

/** Result of a walk: files, and paths that cannot be read. */
interface Below {
  readonly files: TextFile[]
  readonly problems: { readonly where: string; readonly message: string }[]
}

/** Decodes a file name, and reports whether it is UTF-8; other bytes are shown as `\xe9`. */
function nameOf(bytes: Uint8Array): { readonly text: string; readonly isText: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isText: true }
  } catch {
    const text = Buffer.from(bytes).toString('latin1')
    const shown = text.replaceAll(/[^ -~]/g, (char: string) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
    return { text: shown, isText: false }
  }
}

/** Walks a folder; `name` is its path from the start of the walk. */
function walk(folder: string, name: string, ending: RegExp, hidden: boolean, below: Below): void {
  const note = (where: string, error: unknown) => {
    if (!(error instanceof RowProblem)) throw error
    below.problems.push({ where, message: error.message })
  }
  try {
    const entries = reading(() => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }))
      .map((entry) => ({ entry, name: nameOf(entry.name) }))
      .sort((a, b) => (a.name.text < b.name.text ? -1 : 1))
    for (const { entry, name: own } of entries) {
      if (own.text.startsWith('.') && !hidden) continue
      if (own.text === 'node_modules' || own.text === '.git') continue
      const isMeant = entry.isDirectory() || (entry.isFile() && ending.test(own.text))
      const where = name === '' ? own.text : `${name}/${own.text}`
      if (isMeant && !own.isText)
        below.problems.push({ where, message: 'the bytes of its name are not UTF-8; rename it' })
      else if (entry.isDirectory()) walk(join(folder, own.text), where, ending, hidden, below)
      else if (isMeant)
        try {
          const path = join(folder, own.text)
          below.files.push({ path, name: where, at: Math.floor(reading(() => statSync(path)).mtimeMs) })
        } catch (error) {
          note(where, error)
        }
    }
  } catch (error) {
    note(name === '' ? folder : `${name}/`, error)
  }
}

/** Returns the files below a folder with this ending, and the paths that cannot be read. */
export function filesBelow(path: string, ending: RegExp, hidden = false): Below {
  const below: Below = { files: [], problems: [] }
  walk(path, '', ending, hidden, below)
  return below
}

/**
 * The Markdown files below a folder, or the one file, sorted by name; includes hidden folders with `hidden`. A file or
 * folder that cannot be read is refused; the others are read.
 *
 * @throws SourceProblem if there is none: the path is probably wrong
 */
export function markdownBelow(collector: Collector, path: string, ending: RegExp, hidden = false): TextFile[] {
  const stat = statSync(path)
  if (!stat.isDirectory()) {
    if (!ending.test(path)) throw new SourceProblem(`${path} is not a Markdown file: its name does not end in .md`)
    return [{ path, name: path.split(sep).at(-1) ?? path, at: Math.floor(stat.mtimeMs) }]
  }
  const below = filesBelow(path, ending, hidden)
  for (const { where, message } of below.problems) collector.refuse(where, message)
  if (below.files.length === 0 && below.problems.length === 0) throw new SourceProblem(`${path} has no Markdown files`)
  return below.files
}

/** @throws RowProblem for invalid bytes */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new RowProblem('is not UTF-8')
  }
}

/** @throws SourceProblem for a folder where a file is expected */
export function checkFile(path: string): void {
  if (statSync(path).isDirectory()) throw new SourceProblem(`${path} is a folder; name the file`)
}

/** Returns whether a byte order mark means UTF-16. */
export const isUtf16 = (bytes: Uint8Array): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)

/** Reads the bytes of one file of several. @throws RowProblem if it cannot be read */
export const readBytes = (path: string): Uint8Array => reading(() => readFileSync(path))

/** @throws RowProblem if it cannot be read, or is not valid text */
export const readText = (path: string): string => decodeText(readBytes(path))

export interface TextLine {
  /** From 1. */
  readonly number: number
  /** @throws RowProblem for an empty line, and for invalid bytes */
  readonly text: () => string
  /** The bytes as characters, valid or not, to identify the line in messages. */
  readonly shown: () => string
}

/** Lines of a file, each decoded separately, without byte order mark and trailing carriage returns. */
export function* linesOfFile(path: string): Generator<TextLine> {
  checkFile(path)
  let bytes: Uint8Array = readFileSync(path)
  if (isUtf16(bytes)) bytes = new TextEncoder().encode(decodeText(bytes))
  let from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  for (let number = 1; from < bytes.length; number++) {
    const end = bytes.indexOf(0x0a, from)
    const line = bytes.subarray(from, end < 0 ? bytes.length : end)
    const clean = line.at(-1) === 0x0d ? line.subarray(0, -1) : line
    const text = () => {
      if (clean.length === 0) throw new RowProblem('is empty')
      return decodeText(clean)
    }
    yield { number, text, shown: () => Buffer.from(clean).toString('latin1') }
    from = end < 0 ? bytes.length : end + 1
  }
}
