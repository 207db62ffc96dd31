// Reads rows from a plain dump of pg_dump: COPY blocks and INSERT statements of the requested tables; no SQL is run.

import { linesOfFile, type TextLine } from './files'
import { Row } from './sqlite'
import { RowProblem } from './values'

// Parses one INSERT of a dump: columns and literals as pg_dump --column-inserts writes them.

type Insert =
  | { readonly state: 'whole'; readonly columns: readonly string[]; readonly values: readonly (string | null)[] }
  /** The statement continues on the next line. */
  | { readonly state: 'open' }
  | { readonly state: 'wrong' }

const HEAD = /^INSERT INTO [^(]*\(([^)]*)\) VALUES \(/

function readInsert(text: string): Insert {
  const head = HEAD.exec(text)
  if (head === null) return { state: 'wrong' }
  const columns = (head[1] ?? '').split(', ').map((name) => name.replaceAll('"', ''))
  const values: (string | null)[] = []
  let at = head[0].length
  for (;;) {
    const value = literal(text, at)
    if (value === null) return { state: 'open' }
    values.push(value.value)
    const next = text.slice(value.end, value.end + 2)
    if (next === ', ') at = value.end + 2
    else if (next === ');')
      return columns.length === values.length ? { state: 'whole', columns, values } : { state: 'wrong' }
    else return value.end >= text.length ? { state: 'open' } : { state: 'wrong' }
  }
}

/** Parses a literal from a position, and returns where it ends; null if it is not complete. */
function literal(text: string, at: number): { readonly value: string | null; readonly end: number } | null {
  const isEscaped = text.startsWith("E'", at)
  if (!isEscaped && text[at] !== "'") {
    const end = /[,)]/g
    end.lastIndex = at
    const found = end.exec(text)
    if (found === null) return null
    const word = text.slice(at, found.index)
    return { value: word === 'NULL' ? null : word, end: found.index }
  }
  let value = ''
  for (let i = at + (isEscaped ? 2 : 1); i < text.length; i++) {
    const char = text[i] as string
    if (char === "'" && text[i + 1] !== "'") return { value, end: i + 1 }
    if (char === "'") i++
    else if (isEscaped && char === '\\') {
      i++
      value += text[i] === 'n' ? '\n' : text[i] === 't' ? '\t' : text[i] === 'r' ? '\r' : (text[i] ?? '')
      continue
    }
    value += char
  }
  return null
}

type Tell = (where: string, message: string) => void

const COPY = /^COPY (?:"?[\w$]+"?\.)?"?([\w$]+)"? \((.*)\) FROM stdin;$/
const INSERT = /^INSERT INTO (?:"?[\w$]+"?\.)?"?([\w$]+)"? /
/** The columns that hold bytes. */
const BYTES = new Set(['image_data'])

/**
 * @param tables names without schema
 * @param tell receives each row that cannot be read
 * @returns the rows of those tables in the dump
 */
export function readDump(file: string, tables: readonly string[], tell: Tell): Map<string, Row[]> {
  const read = new Map<string, Row[]>()
  const lines = linesOfFile(file)
  const keep = (table: string, row: Row | null) => {
    const rows = read.get(table) ?? []
    read.set(table, rows)
    if (row !== null) rows.push(row)
  }
  for (const line of lines) {
    const text = textOrNull(line)
    const copy = text === null ? null : COPY.exec(text)
    const table = copy?.[1] ?? (text === null ? undefined : INSERT.exec(text)?.[1])
    if (table === undefined || !tables.includes(table)) continue
    keep(table, null)
    if (copy !== null) for (const row of copied(lines, table, columnNames(copy[2] ?? ''), tell)) keep(table, row)
    else if (text !== null) keep(table, inserted(lines, line, text, table, tell))
  }
  return read
}

const columnNames = (list: string): string[] => list.split(', ').map((name) => name.replaceAll('"', ''))

function textOrNull(line: TextLine): string | null {
  try {
    return line.shown() === '' ? '' : line.text()
  } catch (error) {
    if (error instanceof RowProblem) return null
    throw error
  }
}

/** The rows of a COPY block, up to its `\.` */
function* copied(lines: Iterator<TextLine>, table: string, columns: readonly string[], tell: Tell): Generator<Row> {
  for (let number = 1; ; number++) {
    const { value: line, done } = lines.next()
    if (done === true) return tell(table, 'its rows are incomplete: the dump is cut')
    const text = textOrNull(line)
    if (text === '\\.') return
    try {
      if (text === null) throw new RowProblem('is not UTF-8')
      const fields = text.split('\t')
      if (fields.length !== columns.length)
        throw new RowProblem(`has ${fields.length} of ${columns.length} columns (cut or altered)`)
      yield new Row(new Map(columns.map((name, i) => [name, fieldOf(name, fields[i] ?? '\\N')])))
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      tell(`${table} id ${line.shown().split('\t')[0]} (row ${number}, line ${line.number})`, error.message)
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Decodes a field of the COPY form: `\N` is null, and a backslash escapes. */
function fieldOf(column: string, field: string): string | Uint8Array | null {
  if (field === '\\N') return null
  const text = field.replaceAll(/\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)/gs, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8))
    if (/^x./.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return ESCAPES[code] ?? code
  })
  return BYTES.has(column) ? bytesOf(text) : text
}

/** Decodes bytes in the hex form of PostgreSQL. @throws RowProblem */
function bytesOf(text: string): Uint8Array {
  if (!/^\\x([0-9a-f]{2})*$/i.test(text)) throw new RowProblem('its bytes are not in the hex form (cut or altered)')
  return Buffer.from(text.slice(2), 'hex')
}

/** One INSERT, whose strings may contain line breaks; it is read when a line ends like a statement. */
function inserted(lines: Iterator<TextLine>, first: TextLine, begun: string, table: string, tell: Tell): Row | null {
  const where = `${table} (line ${first.number})`
  const parts = [begun]
  for (let last = begun; ; ) {
    const read = last.endsWith(');') ? readInsert(parts.join('\n')) : null
    if (read?.state === 'whole') return rowOf(read.columns, read.values, (message) => tell(where, message))
    const next = read?.state === 'wrong' ? null : lines.next()
    const more = next === null || next.done === true ? null : textOrNull(next.value)
    if (more === null) {
      const left = parts.length === 1 ? '' : `; ${parts.length} lines are left out with it`
      tell(where, `is not a complete INSERT of pg_dump --column-inserts: cut, altered or not UTF-8${left}`)
      return null
    }
    parts.push(more)
    last = more
  }
}

function rowOf(
  columns: readonly string[],
  values: readonly (string | null)[],
  tell: (message: string) => void,
): Row | null {
  try {
    const read = columns.map((name, i) => {
      const value = values[i] ?? null
      return [name, value !== null && BYTES.has(name) ? bytesOf(value) : value] as const
    })
    return new Row(new Map(read))
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    tell(error.message)
    return null
  }
}
