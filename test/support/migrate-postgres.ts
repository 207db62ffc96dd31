import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './build'

export interface MigrationRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** `npm run migrate:postgres` as a person runs it, with nothing of this process' environment that it reads. */
export function migrate(args: readonly string[], env: Record<string, string> = {}): Promise<MigrationRun> {
  const read = /^(DATABASE_URL|METADATA_INDEXED_FIELDS|PGPASSWORD|POSTGRESQL_\w+)$/
  const rest = Object.fromEntries(Object.entries(process.env).filter(([name]) => !read.test(name)))
  return new Promise((resolve) => {
    const script = join(ROOT, 'src', 'cli', 'migrate-postgres.mjs')
    execFile(process.execPath, [script, ...args], { env: { ...rest, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}
