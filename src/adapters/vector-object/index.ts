import { Problem, unavailable } from '../../domain/errors'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'
import type { VectorObject } from './object'

/** One Durable Object an org and model; `forget` empties it. */
export function createObjectVectorIndex(
  namespace: DurableObjectNamespace<VectorObject>,
): VectorIndex & { readonly forget: (space: VectorSpace) => Promise<void> } {
  const objectOf = ({ org, model }: VectorSpace) => namespace.getByName(`${org}\n${model}`)

  async function answered<T>(request: PromiseLike<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      // Errors lose their class on the way out of the object; the one that means something to callers keeps its words.
      const message = error instanceof Error ? error.message : ''
      if (message.includes('VECTOR_BACKEND=vectorize')) throw new Problem('unavailable', message)
      throw unavailable('The vector index did not answer; try again', error)
    }
  }

  return {
    backend: 'object',
    depth: Number.POSITIVE_INFINITY,
    approximate: false,
    placed: true,

    async search(space, query, limit, region = null) {
      const plain = region && {
        ...region,
        layers: region.layers && [...region.layers],
        projects: region.projects && [...region.projects],
      }
      const found = await answered(objectOf(space).search(space.dimensions, query.values, limit, plain))
      const hits = Array.from(found.ids, (id, i) => ({ id, cosine: found.cosines[i] as number }))
      return { hits, confirmedUpTo: found.upTo, cut: found.cut }
    },

    async nearby(space, { projects, owner }, query, { layers, project, beside }) {
      const found = await answered(
        objectOf(space).nearby(space.dimensions, query.values, {
          layers: layers.map((part) => ({ ...part })),
          sight: { project, owner, projects: projects === null ? null : [...projects] },
          beside: Float64Array.from(beside),
        }),
      )
      const hits = Array.from(found.ids, (id, i) => ({ id, cosine: found.cosines[i] as number }))
      return { hits, confirmedUpTo: found.upTo, cut: false }
    },

    async apply(space, changes) {
      await answered(
        objectOf(space).apply(space.dimensions, {
          ...changes,
          added: changes.added.map(({ place, ...vector }) => ({ ...vector, place: place && { ...place } })),
          removed: [...changes.removed],
        }),
      )
    },

    forget: (space) => answered(objectOf(space).forget()),

    settle: () => Promise.resolve(true),

    async state(space) {
      const { addedUpTo, removedUpTo } = await answered(objectOf(space).state())
      return { addedUpTo, removedUpTo }
    },
  }
}
