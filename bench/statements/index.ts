import type { Bindings } from '../../src/composition/isolate'
import type { Environment } from '../../src/config'
import worker from '../../src/index'

// Its Durable Objects, whichever they are.
export * from '../../src/index'

interface Sent {
  readonly sql: string
  readonly params: unknown[]
}

interface Told extends Sent {
  readonly read: number
  readonly written: number
  readonly ms: number
}

/** Since they were last asked for. */
let told: Told[] = []

/** A database that notes what each statement cost. */
function noting(db: D1Database): D1Database {
  const sent = new WeakMap<D1PreparedStatement, Sent>()
  const note = (statement: D1PreparedStatement, { meta }: D1Result) => {
    const one = sent.get(statement)
    if (one !== undefined) told.push({ ...one, read: meta.rows_read, written: meta.rows_written, ms: meta.duration })
  }
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare')
        return (sql: string) => {
          const statement = target.prepare(sql)
          const bind = statement.bind.bind(statement)
          return Object.assign(statement, {
            bind(...params: unknown[]) {
              const bound = bind(...params)
              sent.set(bound, { sql, params })
              return bound
            },
          })
        }
      if (name === 'batch')
        return async (statements: D1PreparedStatement[]) => {
          const results = await target.batch(statements)
          for (const [i, result] of results.entries()) note(statements[i] as D1PreparedStatement, result)
          return results
        }
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** The Worker, with routes `/bench/told` (the statements it sent) and `/bench/ask` (the cost of any other statement). */
export default {
  ...worker,
  async fetch(
    request: Request<unknown, IncomingRequestCfProperties>,
    env: Bindings & Environment,
    ctx: ExecutionContext,
  ): Promise<Response> {
    const { pathname } = new URL(request.url)
    const db = env.DB as D1Database
    if (pathname === '/bench/told') {
      const answer = Response.json(told)
      told = []
      return answer
    }
    if (pathname === '/bench/ask') {
      const { sql, params } = (await request.json()) as Sent
      try {
        const { meta, results } = await db
          .prepare(sql)
          .bind(...params)
          .all()
        return Response.json({
          read: meta.rows_read,
          written: meta.rows_written,
          ms: meta.duration,
          rows: results.length,
          first: results[0] ?? null,
        })
      } catch (error) {
        return Response.json({ error: String(error) })
      }
    }
    return worker.fetch(request, { ...env, DB: noting(db) }, ctx)
  },
}
