// Reads a SQLite file of another program with node:sqlite, without changing it; text with an invalid encoding is reported.

import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { DatabaseSync as Database } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { checkFile } from './files'
import { RowProblem, SourceProblem } from './values'

/** Marks a text that is not valid in the database's encoding. */
export const UNREADABLE = Symbol('not UTF-8')

/** One row; `text`, `number` and `value` throw RowProblem for a column with invalid text. */
export class Row {
  constructor(private readonly columns: ReadonlyMap<string, unknown>) {}

  has(name: string): boolean {
    return this.columns.has(name)
  }

  /** @throws RowProblem */
  value(name: string): string | number | bigint | Uint8Array | null {
    const value = this.columns.get(name) ?? null
    if (value === UNREADABLE) throw new RowProblem(`${name} is not UTF-8`)
    return typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'bigint' ||
      value instanceof Uint8Array
      ? value
      : null
  }

  /** Null for an empty column. @throws RowProblem */
  text(name: string): string | null {
    const value = this.value(name)
    return typeof value === 'string' && value !== '' ? value : null
  }

  number(name: string): number | null {
    const value = this.value(name)
    return typeof value === 'number' ? value : null
  }

  /** Identifies the row in messages. */
  shown(name: string): string {
    const value = this.columns.get(name)
    return value === UNREADABLE ? '(not UTF-8)' : String(value)
  }
}

const ENCODINGS: Readonly<Record<string, string>> = { 'UTF-8': 'utf-8', 'UTF-16le': 'utf-16le', 'UTF-16be': 'utf-16be' }
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0)

export class SqliteFile {
  private constructor(
    private readonly database: Database,
    private readonly file: string,
    private readonly close: () => void,
  ) {}

  /**
   * Opens a file, and closes it when `read` has ended. With a -wal (or -journal) file, copies of both are opened, because opening the
   * originals would change them.
   *
   * @throws SourceProblem
   */
  static async read<T>(file: string, read: (database: SqliteFile) => T): Promise<T> {
    if (!existsSync(file)) throw new SourceProblem(`${file} does not exist`)
    checkFile(file)
    const opened = await SqliteFile.open(file)
    try {
      return read(opened)
    } catch (error) {
      throw readable(error, file)
    } finally {
      opened.close()
    }
  }

  private static async open(file: string): Promise<SqliteFile> {
    const { DatabaseSync } = await import('node:sqlite').catch(() => {
      throw new SourceProblem('SQLite files need Node 22.13 or later; npm run commonplace uses one')
    })
    const beside = ['-wal', '-journal'].filter((end) => sizeOf(file + end) > 0)
    const folder = beside.length > 0 ? mkdtempSync(join(tmpdir(), 'commonplace-import-')) : null
    const forget = () => {
      if (folder !== null) rmSync(folder, { recursive: true, force: true })
    }
    try {
      const target = folder === null ? file : join(folder, basename(file))
      if (folder !== null) copyWhole(file, target, beside)
      // A file without a -wal has no writer. `immutable` also allows a file in a read-only folder.
      const url = pathToFileURL(target)
      if (folder === null) url.searchParams.set('immutable', '1')
      const database = new DatabaseSync(url, folder === null ? { readOnly: true } : {})
      const close = () => {
        database.close()
        forget()
      }
      return new SqliteFile(database, file, close)
    } catch (error) {
      forget()
      throw readable(error, file)
    }
  }

  hasTable(name: string): boolean {
    const found = this.database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name)
    return found !== undefined
  }

  /** @throws SourceProblem if the table does not exist */
  need(table: string, program: string): void {
    if (this.hasTable(table)) return
    throw new SourceProblem(
      `${this.file} has no table ${table}: it is not a database of ${program}, or it was copied from a running one ` +
        'without its -wal file, which contains the rows; copy both, or stop the program first',
    )
  }

  columns(table: string): string[] {
    const rows = this.database.prepare('SELECT name FROM pragma_table_info(?)').all(table)
    return rows.map(({ name }) => String(name))
  }

  /** Yields all rows of a plain table, in insertion order. */
  *rows(table: string): Generator<Row> {
    const columns = this.columns(table)
    const encoding = ENCODINGS[String(this.database.prepare('PRAGMA encoding').get()?.encoding)] ?? 'utf-8'
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
    // Text is read as bytes: the driver would insert U+FFFD for invalid text.
    const read = columns.flatMap((name, i) => [
      `CASE typeof(${quoted(name)}) WHEN 'text' THEN CAST(${quoted(name)} AS BLOB) ELSE ${quoted(name)} END AS v${i}`,
      `typeof(${quoted(name)}) AS t${i}`,
    ])
    const statement = this.database.prepare(`SELECT ${read.join(', ')} FROM ${quoted(table)} ORDER BY rowid`)
    for (const row of statement.iterate()) {
      const values = columns.map((name, i) => {
        const value = row[`v${i}`]
        return [name, row[`t${i}`] === 'text' && value instanceof Uint8Array ? decoded(decoder, value) : value] as const
      })
      yield new Row(new Map(values))
    }
  }
}

function decoded(decoder: TextDecoder, bytes: Uint8Array): unknown {
  try {
    return decoder.decode(bytes)
  } catch {
    return UNREADABLE
  }
}

/** @throws SourceProblem if the files change meanwhile */
function copyWhole(file: string, target: string, beside: readonly string[]): void {
  const ends = ['', ...beside]
  const state = () =>
    ends
      .map((end) => statSync(file + end))
      .map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
      .join()
  const before = state()
  for (const end of ends) copyFileSync(file + end, target + end)
  if (state() !== before) throw new SourceProblem(`${file} is being written; stop its program, and run this again`)
}

function readable(error: unknown, file: string): unknown {
  const isSqlite = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
  if (!isSqlite) return error
  return new SourceProblem(
    `${file} cannot be read: ${error.message} (cut, damaged, or not a SQLite database); nothing was imported`,
  )
}
