import { join } from 'node:path'
import { runProgram } from './program'

export interface MigrationRun {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The program of `npm run migrate:postgres`, with nothing of this process' environment that it reads. */
export function migrate(args: readonly string[], env: Record<string, string> = {}): Promise<MigrationRun> {
  const read = /^(DATABASE_URL|METADATA_INDEXED_FIELDS|PGPASSWORD|POSTGRESQL_\w+)$/
  const rest = Object.fromEntries(Object.entries(process.env).filter(([name]) => !read.test(name)))
  return runProgram(join('src', 'cli', 'migrate-postgres.mjs'), args, { ...(rest as Record<string, string>), ...env })
}
