// `npm run migrate:postgres`: migrates a PostgreSQL database to the schema of this release.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect, explain } from './connect.mjs'
import { migrate, readMigrations } from './migrations.mjs'
import { completeUrl } from './password.mjs'
import { fieldMigrations, parseSchema } from './settings.mjs'
import { databaseFromEnvironment, parseUrl, refusePoolers, UsageError } from './url.mjs'

const USAGE = `usage: npm run migrate:postgres -- <url> [--schema NAME] [--dry-run]

  <url>       of the database itself or of a session pooler, such as postgresql://user@host:5432/database; without one,
              DATABASE_URL, POSTGRESQL_CONNECTION_STRING, or POSTGRESQL_HOST, _PORT, _USER, _PASSWORD, _DATABASE. A password
              that the URL leaves out is read from POSTGRESQL_PASSWORD or PGPASSWORD, or from the terminal. TLS as in psql:
              ?sslmode=disable|require|verify-ca|verify-full[&sslrootcert=FILE]; without sslmode, other machines are
              require TLS
  --schema    schema of the tables, else POSTGRESQL_SCHEMA, else public
  --dry-run   shows what would be applied and changes nothing

METADATA_INDEXED_FIELDS is read from the environment; give it the Worker's value.`

const FILES = fileURLToPath(new URL('../../../migrations/postgres/', import.meta.url).href)

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 * @returns null if only help is requested
 * @throws {UsageError}
 */
async function readArguments(args, environment) {
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        schema: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        files: { type: 'string', default: FILES },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error.message)
  }
  const { positionals, values } = parsed
  if (values.help) return null
  if (positionals.length > 1) throw new UsageError('One URL at a time.')
  const text = positionals[0] ?? databaseFromEnvironment(environment)?.url ?? ''
  refusePoolers(parseUrl(text))
  const schema = parseSchema(values.schema ?? environment.POSTGRESQL_SCHEMA)
  const migrations = [
    ...readMigrations(values.files),
    ...(values.files === FILES ? fieldMigrations(environment.METADATA_INDEXED_FIELDS) : []),
  ]
  return { target: parseUrl(await completeUrl(text, environment)), migrations, schema, dryRun: values['dry-run'] }
}

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 * @param {(line: string) => void} say
 */
async function run(args, environment, say) {
  const read = await readArguments(args, environment)
  if (read === null) return say(USAGE)
  const { target, migrations, schema, dryRun } = read
  const client = await connect(target, 'commonplace migrate')
  try {
    say(`${target.shown}${dryRun ? ' (dry run)' : ''}`)
    const { applied, before } = await migrate(client, migrations, { schema, dryRun, say })
    say(
      dryRun
        ? `${applied.length} to apply, ${before} already applied. No changes were made.`
        : `Up to date: ${applied.length} applied now, ${before} already applied.`,
    )
  } catch (error) {
    throw explain(error, target.shown)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * @param {readonly string[]} args arguments after the name of the program
 * @param {NodeJS.ProcessEnv} environment
 * @param {{ say(line: string): void, complain(text: string): void }} person writes to the terminal
 * @returns {Promise<0 | 1 | 2>} 0 when the database is up to date, 1 when something failed, 2 on wrong usage
 */
export async function migrateDatabase(args, environment, { say, complain }) {
  try {
    await run(args, environment, say)
    return 0
  } catch (error) {
    complain(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : error.message)
    return error instanceof UsageError ? 2 : 1
  }
}
