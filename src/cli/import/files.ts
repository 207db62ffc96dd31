// How are foreign text files read? As UTF-8, or UTF-16 where a byte order mark says so; anything else is told.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { RowProblem, SourceProblem } from './values'

export interface TextFile {
  readonly path: string
  /** From the folder that was asked for, with `/`. */
  readonly name: string
  /** Milliseconds since 1970, of the file's last change. */
  readonly at: number
}

/**
 * The Markdown files below a folder, or the one file, in the order of their names; hidden folders too where `hidden` says so.
 *
 * @throws SourceProblem where there is none: another source was meant
 */
export function markdownBelow(path: string, ending: RegExp, hidden = false): TextFile[] {
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        if (entry.name.startsWith('.') && !hidden) return []
        if (entry.name === 'node_modules' || entry.name === '.git') return []
        const below = join(folder, entry.name)
        return entry.isDirectory() ? walk(below) : entry.isFile() && ending.test(entry.name) ? [below] : []
      })
  const isFolder = statSync(path).isDirectory()
  if (!isFolder && !ending.test(path))
    throw new SourceProblem(`${path} is no Markdown file: its name does not end in .md`)
  const found = isFolder ? walk(path) : [path]
  if (found.length === 0) throw new SourceProblem(`${path} holds no Markdown files`)
  return found.map((file) => ({
    path: file,
    name: isFolder ? relative(path, file).split(sep).join('/') : (file.split(sep).at(-1) ?? file),
    at: Math.floor(statSync(file).mtimeMs),
  }))
}

/** @throws RowProblem for bytes that are no text of their encoding */
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

/** @throws SourceProblem for a folder where one file is read */
export function checkFile(path: string): void {
  if (statSync(path).isDirectory()) throw new SourceProblem(`${path} is a folder; name the file`)
}

/** Whether a byte order mark says UTF-16. */
export const isUtf16 = (bytes: Uint8Array): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)

export const readText = (path: string): string => decodeText(readFileSync(path))

export interface TextLine {
  /** From 1. */
  readonly number: number
  /** @throws RowProblem for an empty line, and for one that is no text of its encoding */
  readonly text: () => string
  /** Its bytes as characters, whatever they are: to say which line it was. */
  readonly shown: () => string
}

/** Lines of a file, of which each is decoded by itself; a byte order mark and carriage returns at ends are no part of them. */
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
