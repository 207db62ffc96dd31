// What stands in a column of a row? Read by its type, so that nothing else is taken for it.
import type { Decode } from './batch'
import type { Row } from './connection'

const wrong = (name: string, wanted: string): Error => new Error(`column ${name} holds no ${wanted}`)

/** A text. @throws Error where there is none */
export function str(row: Row, name: string): string {
  const value = row[name]
  if (typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** A text, or null where there is none. */
export function strOrNull(row: Row, name: string): string | null {
  const value = row[name] ?? null
  if (value !== null && typeof value !== 'string') throw wrong(name, 'text')
  return value
}

/** A text of these; what else stands there was never written by us. */
export const oneOf =
  <T extends string>(values: readonly T[]) =>
  (row: Row, name: string): T => {
    const value = values.find((one) => one === row[name])
    if (value === undefined) throw wrong(name, values.join(' or '))
    return value
  }

/** A number; NaN where there is none. */
export const num = (row: Row, name: string): number => Number(row[name])

export const numOrNull = (row: Row, name: string): number | null => {
  const value = row[name] ?? null
  return value === null ? null : Number(value)
}

/** What one database has as 0 and 1 and the other as a truth value. */
export const flag = (row: Row, name: string): boolean => Number(row[name]) === 1

/** What we wrote as JSON. @throws Error where there is none */
export const json = <T>(row: Row, name: string): T => JSON.parse(str(row, name))

/** As `json`, or null where there is none. */
export function jsonOrNull<T>(row: Row, name: string): T | null {
  const text = strOrNull(row, name)
  return text === null ? null : JSON.parse(text)
}

/** All rows, each as it says. */
export const each =
  <T>(decode: (row: Row) => T): Decode<T[]> =>
  (rows) =>
    rows.map(decode)

/** The first row, or null where there is none. */
export const firstRow =
  <T>(decode: (row: Row) => T): Decode<T | null> =>
  ([row]) =>
    row === undefined ? null : decode(row)

/** The one row that is always there. @throws Error where it is not */
export const onlyRow =
  <T>(decode: (row: Row) => T): Decode<T> =>
  ([row]) => {
    if (row === undefined) throw new Error('a statement brought no row')
    return decode(row)
  }

/** A number of the first row; 0 where there is no row, or nothing in it. */
export const countOf =
  (name = 'n'): Decode<number> =>
  ([row]) =>
    Number(row?.[name] ?? 0)

/** Numbers of a column. */
export const numbersOf = (name: string): Decode<number[]> => each((row) => num(row, name))

/** Texts of a column. */
export const textsOf = (name: string): Decode<string[]> => each((row) => str(row, name))

/** How many rows there are, whatever is in them. */
export const howMany: Decode<number> = ({ length }) => length

/** Rows for a decoder that needs to rest between them. */
export const asRows: Decode<readonly Row[]> = (rows) => rows
