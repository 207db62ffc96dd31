#!/usr/bin/env node
// `npm run migrate:postgres -- <url>`: brings a PostgreSQL database to the schema of this release.
// Exit 0 when it is there, 1 when something failed, 2 on wrong usage.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect, explain } from './postgres/connect.mjs'
import { migrate, readMigrations } from './postgres/migrations.mjs'
import { completeUrl } from './postgres/password.mjs'
import { fieldMigrations, parseSchema } from './postgres/settings.mjs'
import { databaseFromEnvironment, parseUrl, refusePoolers, UsageError } from './postgres/url.mjs'

const USAGE = `usage: npm run migrate:postgres -- <url> [--schema NAME] [--dry-run]

  <url>       of the database itself or of a session pooler, such as postgresql://user@host:5432/database; without one,
              DATABASE_URL, POSTGRESQL_CONNECTION_STRING, or POSTGRESQL_HOST, _PORT, _USER, _PASSWORD, _DATABASE. A password
              that the URL leaves out is taken from POSTGRESQL_PASSWORD or PGPASSWORD, or asked for. TLS as in psql:
              ?sslmode=disable|require|verify-ca|verify-full[&sslrootcert=FILE]; without sslmode, other machines are
              spoken to in TLS
  --schema    where the tables are, else POSTGRESQL_SCHEMA, else public
  --dry-run   says what would be applied and changes nothing

METADATA_INDEXED_FIELDS is read from the environment; give it the Worker's value.`

const FILES = fileURLToPath(new URL('../../migrations/postgres/', import.meta.url).href)

async function readArguments() {
  let parsed
  try {
    parsed = parseArgs({
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
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  if (positionals.length > 1) throw new UsageError('One URL at a time.')
  const text = positionals[0] ?? databaseFromEnvironment(process.env)?.url ?? ''
  refusePoolers(parseUrl(text))
  const schema = parseSchema(values.schema ?? process.env.POSTGRESQL_SCHEMA)
  const migrations = [
    ...readMigrations(values.files),
    ...(values.files === FILES ? fieldMigrations(process.env.METADATA_INDEXED_FIELDS) : []),
  ]
  return { target: parseUrl(await completeUrl(text)), migrations, schema, dryRun: values['dry-run'] }
}

async function run() {
  const { target, migrations, schema, dryRun } = await readArguments()
  const client = await connect(target, 'commonplace migrate')
  try {
    const say = (line) => console.log(line)
    say(`${target.shown}${dryRun ? ' (dry run)' : ''}`)
    const { applied, before } = await migrate(client, migrations, { schema, dryRun, say })
    say(
      dryRun
        ? `${applied.length} to apply, ${before} applied before. Nothing was changed.`
        : `Up to date: ${applied.length} applied now, ${before} before.`,
    )
  } catch (error) {
    throw explain(error, target.shown)
  } finally {
    await client.end().catch(() => {})
  }
}

try {
  await run()
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  } else {
    console.error(error.message)
    process.exitCode = 1
  }
}
