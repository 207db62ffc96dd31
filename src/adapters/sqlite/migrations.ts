/** What brings a SQLite database to the schema of this release, wherever it runs. */
export interface Migration {
  readonly name: string
  readonly sql: string
}

/** A metadata field that is to be found fast; see METADATA_INDEXED_FIELDS. */
export interface IndexedField {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'float' | 'array' | 'object'
}

/** Statements are separated by blank lines (see migrations/README.md), because trigger bodies hold semicolons too. */
export const splitStatements = (sql: string): string[] =>
  sql
    .split(/\n\s*\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(/^\s*--.*$/gm, '').trim() !== '')

/** One statement an indexed field: the value as equality filters compare it. Arrays and objects have no order to index. */
export function fieldIndexes(fields: readonly IndexedField[]): Migration {
  const wanted = fields
    .filter(({ type }) => type !== 'array' && type !== 'object')
    .map(({ name, type }) => {
      const value = `json_extract(metadata, '$."${name}"')`
      return {
        index: `entries_meta_${name.replaceAll(/[^A-Za-z0-9_]/g, (char) => `x${char.charCodeAt(0)}`)}`,
        value: type === 'string' ? `lower(${value})` : value,
      }
    })
  return {
    name: `indexed fields: ${wanted.map(({ value }) => value).join(', ')}`,
    sql: wanted
      .map(
        ({ index, value }) =>
          `CREATE INDEX ${index} ON entries (org, ${value}) WHERE listed = 1 AND ${value} IS NOT NULL`,
      )
      .join('\n\n'),
  }
}

/** Fields whose equality filters an index answers. */
export const indexedFieldNames = (fields: readonly IndexedField[]): Set<string> =>
  new Set(fields.filter(({ type }) => type !== 'array' && type !== 'object').map(({ name }) => name))
