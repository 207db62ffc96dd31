// Creates the indexes of METADATA_INDEXED_FIELDS, on exactly the expressions that the dialect compares. Plain JavaScript, because the
// migration runner reads it with Node too.

/** Characters of a string in an index: index rows have a maximum size, metadata do not. */
export const STRING_START = 64

/** Prefix of these migrations in the journal, before the names of fields. */
export const FIELDS = 'indexed fields: '

/** @param {string} name */
const literal = (name) => `'${name.replaceAll("'", "''")}'::text`

/**
 * Returns the start of a top-level string, case-folded. Other types have one too; the filter's type check excludes them.
 *
 * @param {string} name of the field
 * @param {string} [alias] of the table, with its dot
 * @returns {string} an SQL expression
 */
export const foldedStart = (name, alias = '') =>
  `left(lower((${alias}metadata_json ->> ${literal(name)}) COLLATE "C"), ${STRING_START})`

/**
 * Creates the migration for these fields. Arrays and objects are not indexed. Indexes of fields that are no longer listed are dropped.
 *
 * @param {readonly { name: string, type: string }[]} fields
 * @returns {{ name: string, sql: string }} a migration whose name changes with the fields
 */
export function indexedFieldsMigration(fields) {
  const wanted = fields
    .filter(({ type }) => type !== 'array' && type !== 'object')
    .map(({ name, type }, i) => {
      // PostgreSQL limits a name to 63 bytes.
      const index = `entries_meta_${name.length > 50 ? `${name.slice(0, 45)}_${i}` : name}`
      const value = `metadata_json -> ${literal(name)}`
      const kind = type === 'string' || type === 'boolean' ? type : 'number'
      const key = kind === 'string' ? foldedStart(name) : value
      return `CREATE INDEX "${index}" ON entries (org, (${key})) WHERE listed = 1 AND jsonb_typeof(${value}) = '${kind}';`
    })
  const drop = `DO $$
DECLARE
  old text;
BEGIN
  FOR old IN SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND starts_with(indexname, 'entries_meta_') LOOP
    EXECUTE format('DROP INDEX %I', old);
  END LOOP;
END $$;`
  const name = fields.map((field) => `${field.name}:${field.type}`).join(', ')
  return { name: `${FIELDS}${name}`, sql: [drop, ...wanted].join('\n') }
}
