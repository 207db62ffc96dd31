import { objectBytes, VECTOR_MEMORY_MB } from '../../domain/capacity'
import { unavailable } from '../../domain/errors'
import type { VectorHit, VectorIndex, VectorSpace } from '../../ports/vector-index'
import { capacityOf } from './capacity'
import type { Answered, FoundNearest } from './messages'
import type { VectorObject } from './object'
import type { Scored } from './scan'

type Stub = DurableObjectStub<VectorObject>

const nameOf = ({ org, model }: Pick<VectorSpace, 'org' | 'model'>): string => `${org}\n${model}`

const hitsOf = ({ ids, cosines, entries }: Scored & Partial<FoundNearest>): VectorHit[] =>
  Array.from(ids, (id, i) => ({ id, cosine: cosines[i] as number, entryId: entries?.[i] }))

/** Number of entries without vectors in each incomplete space, as last reported in this isolate. */
const leftOut = new Map<string, number>()
/** Maximum number of spaces that an isolate remembers. */
const MOST_SPACES = 1_000

/**
 * Creates a vector index in Durable Objects, which hold the vectors of an organization and model in memory: the newest, if not all fit.
 * `forget` empties an object.
 *
 * @param bytes maximum memory of one object
 */
export function createObjectVectorIndex(
  namespace: DurableObjectNamespace<VectorObject>,
  bytes = objectBytes(VECTOR_MEMORY_MB),
): VectorIndex & { readonly forget: (space: VectorSpace) => Promise<void> } {
  const objectOf = (space: VectorSpace): Stub => namespace.getByName(nameOf(space))

  async function answered<T>(request: PromiseLike<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      throw unavailable('The vector index did not respond; try again', error)
    }
  }

  async function asked<Found>(space: VectorSpace, request: PromiseLike<Answered<Found>>): Promise<Answered<Found>> {
    const answer = await answered(request)
    if (leftOut.size >= MOST_SPACES) leftOut.clear()
    if (answer.leftOut > 0) leftOut.set(nameOf(space), answer.leftOut)
    else leftOut.delete(nameOf(space))
    return answer
  }

  return {
    backend: 'object',
    depth: Number.POSITIVE_INFINITY,
    approximate: false,
    placed: true,
    capacity: (dimensions) => capacityOf(dimensions, bytes),
    leftOut: (space) => leftOut.get(nameOf(space)) ?? 0,

    async search(space, query, limit, region = null) {
      const { homes, ...named } = region ?? {}
      const plain = region && {
        ...(named as Omit<typeof region, 'homes'>),
        ...(homes === undefined ? {} : { homes: [...homes] }),
        layers: region.layers && [...region.layers],
        projects: region.projects && [...region.projects],
      }
      const found = await asked(space, objectOf(space).search(space.dimensions, query.values, limit, plain))
      return { hits: hitsOf(found), confirmedUpTo: found.upTo, cut: found.cut }
    },

    async nearby(space, { projects, owner }, query, { layers, most, least, project, beside }) {
      const named = new Set(beside)
      const request = {
        ...{ layers: [...layers], most, least },
        sight: { project, owner, projects: projects === null ? null : [...projects] },
        beside: Float64Array.from(named),
      }
      const found = await asked(space, objectOf(space).nearby(space.dimensions, query.values, request))
      const others = hitsOf({ ids: found.nearest.ids, cosines: found.nearest.cosines }).filter(
        ({ id }) => !named.has(id),
      )
      return { hits: [...hitsOf(found.named), ...others], confirmedUpTo: found.upTo, cut: false }
    },

    async apply(space, changes) {
      const plain = {
        ...changes,
        added: changes.added.map(({ place, ...vector }) => ({ ...vector, place: place && { ...place } })),
        removed: [...changes.removed],
        since: { ...changes.since },
      }
      await answered(objectOf(space).apply(space.dimensions, plain, nameOf(space), bytes))
    },

    forget: (space) => answered(objectOf(space).clear()),

    settle: () => Promise.resolve(true),

    async state(space) {
      const { addedUpTo, removedUpTo } = await answered(objectOf(space).state())
      return { addedUpTo, removedUpTo }
    },
  }
}
