import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import type { Bindings } from '../../src/composition/isolate'
import type { Environment } from '../../src/config'
import { toBase64 } from '../../src/domain/meaning/vector'
import worker from '../../src/index'

// Its Durable Objects, whichever they are.
export * from '../../src/index'

/** The vector of an id, always the same: random numbers, so that each is most similar to itself and unlike all others. */
function vectorOf(id: number, dimensions: number): Int8Array {
  let state = (id * 2_654_435_761) >>> 0 || 1
  return Int8Array.from({ length: dimensions }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return ((state >>> 0) % 255) - 127
  })
}

/** The Worker as it is, which also fills the vectors of an org and searches them by `/bench/fill` and `/bench/search`, without a database. */
export default {
  ...worker,
  async fetch(
    request: Request<unknown, IncomingRequestCfProperties>,
    env: Bindings & Environment,
    ctx: ExecutionContext,
  ): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (!pathname.startsWith('/bench/') || env.VECTORS === undefined) return worker.fetch(request, env, ctx)
    const given = (name: string) => Number(searchParams.get(name))
    const dimensions = given('dimensions')
    const space = { org: 'bench', model: `bench#${dimensions}`, dimensions }
    const index = createObjectVectorIndex(env.VECTORS)
    if (pathname === '/bench/search') {
      const query = { scale: 1, values: vectorOf(given('id'), dimensions) }
      const { hits, confirmedUpTo } = await index.search(space, query, given('limit'))
      return Response.json({ nearest: hits[0], hits: hits.length, confirmedUpTo })
    }
    const since = await index.state(space)
    const added = Array.from({ length: given('count') }, (_, i) => {
      const id = since.addedUpTo + i + 1
      const data = toBase64({ scale: 1, values: vectorOf(id, dimensions) })
      return { id, entryId: id, place: { layer: 2, project: `p${id % 20}`, reader: '' } as const, data }
    })
    const addedUpTo = since.addedUpTo + added.length
    await index.apply(space, { since, added, addedUpTo, removed: [], removedUpTo: 0 })
    return Response.json({ addedUpTo })
  },
}
