import type { Bindings } from '../../src/composition/isolate'
import type { Environment } from '../../src/config'
import worker from '../../src/index'

// Its Durable Objects, whichever they are.
export * from '../../src/index'

/** The Worker, with a route `/bench/match` that returns FTS5's own order of an expression, from the same table in the same process. */
export default {
  ...worker,
  async fetch(
    request: Request<unknown, IncomingRequestCfProperties>,
    env: Bindings & Environment,
    ctx: ExecutionContext,
  ): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/bench/match') return worker.fetch(request, env, ctx)
    const { results, meta } = await (env.DB as D1Database)
      .prepare('SELECT rowid FROM entries_fts WHERE entries_fts MATCH ? ORDER BY rank LIMIT 200')
      .bind(searchParams.get('of'))
      .all()
    return Response.json({ found: results.length, read: meta.rows_read })
  },
}
