import type { FieldType, IndexedFields } from '../sql/core/dialect'

/** A migration of a SQLite database to the schema of this release. */
export interface Migration {
  readonly name: string
  readonly sql: string
}

/** A metadata field with an index; see METADATA_INDEXED_FIELDS. */
export interface IndexedField {
  readonly name: string
  readonly type: FieldType
}

/**
 * Statements are separated by blank lines (see migrations/README.md), because trigger bodies contain semicolons too.
 */
export const splitStatements = (sql: string): string[] =>
  sql
    .split(/\n\s*\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/^\s*--.*$/gm, '').trim() !== '')

/** Prefix of these migrations in the journal, before the names of fields. */
export const FIELDS = 'indexed fields: '
/**
 * Returns an index for each indexed field: the value as equality filters compare it, its type, and the columns of visibility, so that a
 * page of one value and its total read no entry. Arrays and objects are not indexed.
 */
export function fieldIndexes(fields: readonly IndexedField[]): Migration {
  const wanted = fields
    .filter(({ type }) => type !== 'array' && type !== 'object')
    .map(({ name, type }) => {
      const value = `json_extract(metadata, '$."${name}"')`
      return {
        type: `json_type(metadata, '$."${name}"')`,
        index: `entries_meta_${name.replaceAll(/[^A-Za-z0-9_]/g, (char) => `x${char.charCodeAt(0)}`)}`,
        value: type === 'string' ? `lower(${value})` : value,
      }
    })
  return {
    name: `${FIELDS}${wanted.map(({ value }) => value).join(', ')}`,
    sql: wanted
      .map(
        ({ index, value, type }) =>
          `CREATE INDEX ${index} ON entries (org, ${value}, ${type}, created_second, id, expires_at, reader)
  WHERE listed = 1 AND ${value} IS NOT NULL`,
      )
      .join('\n\n'),
  }
}

/** Returns the fields whose equality filters use an index, and the type of their values. */
export const indexedFieldTypes = (fields: readonly IndexedField[]): IndexedFields =>
  new Map(fields.filter(({ type }) => type !== 'array' && type !== 'object').map(({ name, type }) => [name, type]))
