import type { Metadata } from '../../../domain/entry/metadata'
import type { Scope } from '../../../domain/identity/scope'
import { createStatements, inParts } from '../../../domain/in-parts'
import { JSON_UNITS, type Steps, scheduler } from '../../../domain/scheduler'
import { type AskedOfMetadata, type Filter, matchesValue, Unsettled, valueAt } from '../../../domain/search/filter'
import { conjuncts, guarded, tooMuchAsked, weightOf } from '../../../domain/search/filter-weight'
import type { LargeMetadata } from '../../../ports/large-metadata'

/** Characters that are compared in the time in which one is analysed: the scheduler counts the latter. */
const COMPARED = 32
/** What is asked of a value that is not long, in characters compared. */
const MIN_COMPARED = 64
/** Characters of large metadata that one call reads, and that it compares: some seconds. */
const MOST_READ = 500_000_000
const MOST_COMPARED = 4_000_000_000
const MOST_TRIPS = 500
/** Entries with large metadata that fulfil a filter, which each statement is told. */
const MOST_ADMITTED = 20_000

type Search<Request, T> = (scope: Scope, request: Request) => Promise<T>

/** Makes of a search one that meets any metadata. */
export type Settled = <Request extends { readonly filter: Filter }, T>(search: Search<Request, T>) => Search<Request, T>

/**
 * A search is tried as if no metadata were large, which they rarely are. Where it meets such, they are looked at a few at a time, with
 * rests between (platform contract §6): by the database, or where that would take too long for one of them, here. Then the search is
 * made again with what was found out.
 *
 * @returns what makes a search that throws Problem limit_exceeded, too, when there is too much to be looked at
 */
export function createSettled({ large }: { readonly large: LargeMetadata }): Settled {
  async function settle(scope: Scope, filter: Filter): Promise<Filter> {
    const parts = conjuncts(filter)
    const asked = parts.find((part) => part.op === 'metadata') as AskedOfMetadata
    const others: Filter = { op: 'and', of: parts.filter((part) => part !== asked) }
    const admitted: number[] = []
    let [read, compared] = [0, 0]
    function* look(json: string): Steps<boolean> {
      read += json.length
      yield json.length / JSON_UNITS
      const holds = judge(asked.of, JSON.parse(json) as Metadata, json.length)
      for (;;) {
        const { done, value } = holds.next()
        if (done) return value
        compared += value
        if (read > MOST_READ || compared > MOST_COMPARED) throw tooMuchAsked()
        yield value / COMPARED
      }
    }
    const { isLight } = weightOf(asked.of)
    const once = createStatements({ most: MOST_TRIPS, tooMany: tooMuchAsked })
    const found = inParts<number, readonly number[]>({
      start: 0,
      async step(after) {
        if (admitted.length > MOST_ADMITTED) throw tooMuchAsked()
        const request = { filter: others, above: asked.above, after }
        if (isLight) {
          const { ids, last } = await once(() => large.admitted(scope, request, asked.of))
          return { found: ids, next: last }
        }
        const { metadata, last } = await once(() => large.next(scope, request))
        const fulfilling: number[] = []
        for (const { id, json } of metadata) if (await scheduler.run(look(json))) fulfilling.push(id)
        return { found: fulfilling, next: last }
      },
    })
    for await (const ids of found) admitted.push(...ids)
    return { op: 'and', of: [...others.of, { ...asked, admitted }] }
  }

  return (search) => async (scope, request) => {
    const filter = guarded(request.filter)
    try {
      return await search(scope, { ...request, filter })
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error
    }
    return search(scope, { ...request, filter: await settle(scope, filter) })
  }
}

/** As `matches`, of a filter on metadata alone; yields the characters that are compared next. @param length of the metadata as JSON */
function* judge(filter: Filter, metadata: Metadata, length: number): Steps<boolean> {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const decides = filter.op === 'or'
      for (const part of filter.of) if ((yield* judge(part, metadata, length)) === decides) return decides
      return !decides
    }
    case 'not':
      return !(yield* judge(filter.of, metadata, length))
    default: {
      if (!('path' in filter)) throw new Error(`${filter.op} asks for more than metadata`)
      const value = valueAt(metadata, filter.path)
      yield Array.isArray(value)
        ? length
        : typeof value === 'string'
          ? Math.max(MIN_COMPARED, value.length)
          : MIN_COMPARED
      return matchesValue(filter, value)
    }
  }
}
