import { RowProblem } from './values'

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
