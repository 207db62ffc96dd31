// Answers of /ready when PostgreSQL does not match the settings. Broken connections, and errors of calls: test/node.
import { env } from 'cloudflare:workers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { bindings } from '../support/bindings'
import { workerHere } from '../support/worker-here'

const { POSTGRES_TEMPLATE: template, POSTGRES_URL: server } = env as unknown as {
  /** Empty on PGlite. */
  POSTGRES_TEMPLATE: string
  POSTGRES_URL: string
}
const COMMAND = 'npm run migrate:postgres -- <url>'

// Errors are logged, too.
vi.spyOn(console, 'error').mockImplementation(() => {})
// Files share a process.
afterAll(() => void vi.restoreAllMocks())

/** Of a database of the server itself, without the pooler; that of this file unless another is named. */
function urlOf(change: (parts: URL) => void = () => {}): string {
  const url = new URL(server)
  url.pathname = new URL((bindings.HYPERDRIVE as Hyperdrive).connectionString).pathname
  change(url)
  return url.href
}

/** The answer to any request while a Worker with these variables is not ready. @param connectionString null: without a binding */
async function heard(connectionString: string | null, vars: Record<string, string> = {}): Promise<string> {
  const HYPERDRIVE = connectionString === null ? undefined : { connectionString }
  const backend = connectionString === null ? {} : { STORAGE_BACKEND: 'postgresql' }
  const response = await workerHere({ ...backend, ...vars }, { HYPERDRIVE })('/ready')
  const { error } = await response.json<{ error: { code: string; message: string; retryable: boolean } }>()
  expect([response.status, error?.code, error?.retryable]).toEqual([503, 'unavailable', true])
  expect(error.message).not.toMatch(/127\.0\.0\.1|localhost|select |:\d{4,5}/i)
  return error.message
}

describe('a server without its database names the setting to check', () => {
  it('when the binding is missing', async () => {
    expect(await heard(null, { STORAGE_BACKEND: 'postgresql' })).toMatch(/HYPERDRIVE binding is missing/)
  })

  it('when nothing listens there', async () => {
    const closed = urlOf((parts) => {
      parts.port = '9'
    })
    expect(await heard(closed)).toMatch(/HYPERDRIVE/)
  })

  it.skipIf(!template)('when the database or the user does not exist', async () => {
    const nowhere = urlOf((parts) => {
      parts.pathname = '/no_such_database'
    })
    expect(await heard(nowhere)).toMatch(/The database of the HYPERDRIVE binding does not exist/)
    const stranger = urlOf((parts) => {
      parts.username = 'nobody_we_know'
    })
    expect(await heard(stranger)).toMatch(/refuses the user or password of the HYPERDRIVE binding/)
  })

  it('when POSTGRESQL_SCHEMA names a schema that is not there, or no schema at all', async () => {
    expect(await heard(urlOf(), { POSTGRESQL_SCHEMA: 'elsewhere' })).toContain(COMMAND)
    const wrong = await heard(urlOf(), { POSTGRESQL_SCHEMA: 'not a name', EMBEDDING_DIM: '4001' })
    expect(wrong).toMatch(/POSTGRESQL_SCHEMA must have at most 63 characters/)
    expect(wrong).toMatch(/EMBEDDING_DIM .* from 1 to 4000/)
    expect(await heard(null, { VECTOR_BACKEND: 'pgvector' })).toMatch(/requires STORAGE_BACKEND=postgresql/)
  })
})
