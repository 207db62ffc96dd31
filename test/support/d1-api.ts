// Simulates Cloudflare's API: a server that runs its D1 queries on a simulated D1.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

export interface D1Api {
  readonly url: string
  stop(): Promise<void>
}

interface Statement {
  readonly sql: string
  readonly params: readonly unknown[]
}

/** @param databases databases by ID; a request needs the token `secret` and the account `account` */
export async function startD1Api(databases: Readonly<Record<string, D1Database>>): Promise<D1Api> {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
    const refuse = (status: number, message: string) => answer(status, { success: false, errors: [{ message }] })
    const id = /^\/accounts\/account\/d1\/database\/([^/]+)\/query$/.exec(request.url ?? '')?.[1] ?? ''
    const database = databases[id]
    if (request.headers.authorization !== 'Bearer secret') return refuse(403, 'Authentication error')
    if (database === undefined) return refuse(404, 'The database could not be found')
    const { batch } = (await json(request)) as { batch: Statement[] }
    try {
      const result = await database.batch(batch.map(({ sql, params }) => database.prepare(sql).bind(...params)))
      return answer(200, { success: true, result })
    } catch (error) {
      return refuse(400, String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
