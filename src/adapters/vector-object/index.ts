import { Problem, unavailable } from '../../domain/errors'
import type { VectorHit, VectorIndex, VectorSpace } from '../../ports/vector-index'
import { mergeNearby, mergeNearest } from './merge'
import type { VectorObject } from './object'
import { type Answered, covers, type FoundNearest, partName } from './questions'
import type { Scored } from './scan'

/** Bytes of memory that the vectors of one object take: several objects may share the 128 MB of an isolate. */
const PART_BYTES = 40_000_000

/** Which objects beside the first a space has, as it was when the first last answered in this isolate; a search asks them all at once. */
const remembered = new Map<string, readonly number[]>()
/** Of so many spaces an isolate remembers it. */
const MOST_SPACES = 1_000

function remember(name: string, parts: readonly number[]): void {
  if (remembered.size >= MOST_SPACES) remembered.clear()
  if (parts.length === 0) remembered.delete(name)
  else remembered.set(name, parts)
}

/** How often objects are asked anew that lose each other. */
const TRIES = 5

type Stub = DurableObjectStub<VectorObject>

const nameOf = ({ org, model }: VectorSpace): string => `${org}\n${model}`

const hitsOf = ({ ids, cosines, entries }: Scored & Pick<FoundNearest, 'entries'>): VectorHit[] =>
  Array.from(ids, (id, i) => ({ id, cosine: cosines[i] as number, entryId: entries?.[i] }))

/**
 * Durable Objects that hold the vectors of an org and model: one, and where it is full the next; `forget` empties them.
 *
 * @param partBytes in the place of `PART_BYTES`
 */
export function createObjectVectorIndex(
  namespace: DurableObjectNamespace<VectorObject>,
  partBytes = PART_BYTES,
): VectorIndex & { readonly forget: (space: VectorSpace) => Promise<void> } {
  const firstOf = (name: string): Stub => namespace.getByName(name)
  const partOf = (name: string, n: number): Stub => namespace.getByName(partName(name, n))

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

  /**
   * Asks all objects of a space at once. What a part answered counts where it knew everything that the first object had told it by then;
   * else it is asked again, as is one that this isolate had not heard of.
   *
   * @returns the first object's answer, and then those of the parts
   */
  async function askAll<Found>(
    name: string,
    ask: (object: Stub) => PromiseLike<Answered<Found>>,
  ): Promise<[Answered<Found>, ...Answered<Found>[]]> {
    const askPart = (n: number) => answered(ask(partOf(name, n)))
    for (let tries = 0; tries < TRIES; tries++) {
      const supposed = remembered.get(name) ?? []
      const [first, ...rest] = await Promise.all([answered(ask(firstOf(name))), ...supposed.map(askPart)])
      remember(
        name,
        first.parts.map(({ n }) => n),
      )
      const early = new Map(supposed.map((n, i) => [n, rest[i]]))
      const found = await Promise.all(
        first.parts.map((part) => {
          const answer = early.get(part.n)
          return answer !== undefined && covers(answer, part) ? answer : askPart(part.n)
        }),
      )
      if (found.every((answer, i) => covers(answer, first.parts[i] as (typeof first.parts)[number])))
        return [first, ...found]
      // Asked after the first has answered, a part lacks nothing, unless it has lost something or the index began anew meanwhile.
      await answered(firstOf(name).mend(name))
    }
    throw unavailable('The vector index changes too fast to be asked; try again')
  }

  return {
    backend: 'object',
    depth: Number.POSITIVE_INFINITY,
    approximate: false,
    placed: true,

    async search(space, query, limit, region = null) {
      const { homes, ...named } = region ?? {}
      const plain = region && {
        ...(named as Omit<typeof region, 'homes'>),
        ...(homes === undefined ? {} : { homes: [...homes] }),
        layers: region.layers && [...region.layers],
        projects: region.projects && [...region.projects],
      }
      const all = await askAll(nameOf(space), (object) => object.search(space.dimensions, query.values, limit, plain))
      const found = mergeNearest(all, limit)
      return { hits: hitsOf(found), confirmedUpTo: all[0].upTo, cut: found.cut }
    },

    async nearby(space, { projects, owner }, query, { layers, most, least, project, beside }) {
      const request = {
        ...{ layers: [...layers], most, least },
        sight: { project, owner, projects: projects === null ? null : [...projects] },
        beside: Float64Array.from(new Set(beside)),
      }
      const all = await askAll(nameOf(space), (object) => object.nearby(space.dimensions, query.values, request))
      const hits = hitsOf(mergeNearby(all, most, new Set(beside)))
      return { hits, confirmedUpTo: all[0].upTo, cut: false }
    },

    async apply(space, changes) {
      const plain = {
        ...changes,
        added: changes.added.map(({ place, ...vector }) => ({ ...vector, place: place && { ...place } })),
        removed: [...changes.removed],
        since: { ...changes.since },
      }
      const name = nameOf(space)
      await answered(firstOf(name).apply(space.dimensions, plain, name, partBytes))
    },

    forget: (space) => answered(firstOf(nameOf(space)).forget(nameOf(space))),

    settle: () => Promise.resolve(true),

    async state(space) {
      const { addedUpTo, removedUpTo } = await answered(firstOf(nameOf(space)).state(nameOf(space)))
      return { addedUpTo, removedUpTo }
    },
  }
}
