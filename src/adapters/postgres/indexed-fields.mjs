// How does METADATA_INDEXED_FIELDS make filters fast? By indexes on exactly what the dialect compares. This file is read by the
// migration runner too, which runs in plain Node, of an age that knows no types.

/** Characters of a string that an index holds: its rows are limited in size, metadata is not. */
export const STRING_START = 64

/** In the journal of migrations, before the names of fields. */
export const FIELDS = 'indexed fields: '

/** @param {string} name */
const literal = (name) => `'${name.replaceAll("'", "''")}'::text`

/**
 * The beginning of a top-level string, folded; also of other values, which the filter's look at the type sorts out.
 *
 * @param {string} name of the field
 * @param {string} [alias] of the table, with its dot
 * @returns {string} an SQL expression
 */
export const foldedStart = (name, alias = '') =>
  `left(lower((${alias}metadata_json ->> ${literal(name)}) COLLATE "C"), ${STRING_START})`

/**
 * Arrays and objects have no order to index. Indexes that the list no longer names are dropped.
 *
 * @param {readonly { name: string, type: string }[]} fields
 * @returns {{ name: string, sql: string }} a migration whose name changes with the fields
 */
export function indexedFieldsMigration(fields) {
  const wanted = fields
    .filter(({ type }) => type !== 'array' && type !== 'object')
    .map(({ name, type }, i) => {
      // A name of PostgreSQL has 63 bytes at most.
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
