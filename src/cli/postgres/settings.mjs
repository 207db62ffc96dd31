// Reads the settings of the Worker that shape the database, with the same names and defaults as src/config.ts, from the environment,
// because the runner must work where only Node and the driver are installed.
import { FIELDS, indexedFieldsMigration } from '../../adapters/postgres/indexed-fields.mjs'
import { UsageError } from './url.mjs'

export const DEFAULT_INDEXED_FIELDS =
  'status, agent_name, task_name, project, report_type, references:object, technologies:array'
const FIELD = /^([A-Za-z0-9_-]+)(?::(string|integer|boolean|float|array|object))?$/
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/** @returns {{ name: string, type: string }[]} */
export function parseIndexedFields(text = DEFAULT_INDEXED_FIELDS) {
  const items = text.split(',').map((item) => item.trim())
  const names = new Set()
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const match = FIELD.exec(item)
      if (match === null)
        throw new UsageError(
          `METADATA_INDEXED_FIELDS contains "${item}"; use name or name:type with one of string, integer, boolean, float, array, object.`,
        )
      if (names.has(match[1]))
        throw new UsageError(`METADATA_INDEXED_FIELDS names "${match[1]}" twice; name each field once.`)
      names.add(match[1])
      return { name: match[1], type: match[2] ?? 'string' }
    })
}

/** @param {string | undefined} name */
export function parseSchema(name) {
  const schema = name || 'public'
  if (!SCHEMA.test(schema) || schema.startsWith('pg_'))
    throw new UsageError(
      `The schema name "${schema}" is invalid; use at most 63 of a-z, 0-9 and _, and do not start with a digit or pg_.`,
    )
  return schema
}

/**
 * Returns METADATA_INDEXED_FIELDS as a migration, which is applied again whenever its value changes.
 *
 * @param {string | undefined} text
 * @returns {import('./migrations.mjs').Migration[]}
 */
export function fieldMigrations(text) {
  return [{ ...indexedFieldsMigration(parseIndexedFields(text)), replaces: FIELDS }]
}
