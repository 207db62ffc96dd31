import { join } from 'node:path'
import { migrateDatabase } from '../../src/cli/postgres/command.mjs'
import { runProgram } from './program'

export interface MigrationRun {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Only the variables that the program reads. */
function surroundings(environment: Record<string, string>): Record<string, string> {
  const read = /^(DATABASE_URL|METADATA_INDEXED_FIELDS|PGPASSWORD|POSTGRESQL_\w+)$/
  const rest = Object.fromEntries(Object.entries(process.env).filter(([name]) => !read.test(name)))
  return { ...(rest as Record<string, string>), ...environment }
}

/** The program of `npm run migrate:postgres`. */
export const migrateByProgram = (args: readonly string[], env: Record<string, string> = {}): Promise<MigrationRun> =>
  runProgram(join('src', 'cli', 'migrate-postgres.mjs'), args, surroundings(env))

/** Runs that program in this process, because starting one takes most of the time. */
export async function migrate(args: readonly string[], env: Record<string, string> = {}): Promise<MigrationRun> {
  const said = { out: '', err: '' }
  const code = await migrateDatabase(args, surroundings(env), {
    say: (line: string) => {
      said.out += `${line}\n`
    },
    complain: (text: string) => {
      said.err += `${text}\n`
    },
  })
  return { code, ...said }
}
