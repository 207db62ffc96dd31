// Which settings of the Worker shape the database? The same names and defaults as in src/config.ts, read from the environment,
// because the runner must be able to run where only Node and the driver are.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UsageError } from './url.mjs'

export const DEFAULT_INDEXED_FIELDS =
  'status, agent_name, task_name, project, report_type, references:object, technologies:array'
const FIELD = /^([A-Za-z0-9_-]+)(?::(string|integer|boolean|float|array|object))?$/
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/

/** @returns {{ name: string, type: string }[]} */
export function parseIndexedFields(text = DEFAULT_INDEXED_FIELDS) {
  const items = text.split(',').map((item) => item.trim())
  return items
    .filter((item) => item !== '')
    .map((item) => {
      const match = FIELD.exec(item)
      if (match === null)
        throw new UsageError(
          `METADATA_INDEXED_FIELDS holds "${item}"; write name or name:type with one of string, integer, boolean, float, array, object.`,
        )
      return { name: match[1], type: match[2] ?? 'string' }
    })
}

/** @param {string | undefined} name */
export function parseSchema(name) {
  const schema = name || 'public'
  if (!SCHEMA.test(schema) || schema.startsWith('pg_'))
    throw new UsageError(
      `The schema is "${schema}"; write a-z, 0-9 and _, at most 63, not beginning with a digit or pg_.`,
    )
  return schema
}

/** The indexes of metadata fields as the adapter compares them: one source for the runner and for the queries. */
const FIELD_INDEXES = new URL('../../adapters/postgres/indexed-fields.ts', import.meta.url)

/**
 * METADATA_INDEXED_FIELDS as a migration of its own, made anew whenever its value changes.
 *
 * @param {string | undefined} text
 * @returns {Promise<import('./migrations.mjs').Migration[]>}
 */
export async function fieldMigrations(text) {
  const fields = parseIndexedFields(text)
  if (!existsSync(fileURLToPath(FIELD_INDEXES))) return []
  const { indexedFieldsMigration } = await import(FIELD_INDEXES.href)
  return [{ ...indexedFieldsMigration(fields), replaces: 'indexed fields: ' }]
}
