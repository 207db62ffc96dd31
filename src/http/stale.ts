import { Hono } from 'hono'
import { holdsFrom } from '../domain/currency/later-first'
import type { MemoryPair } from '../domain/currency/pair'
import type { EntryPreview } from '../domain/entry/entry'
import { readId } from '../domain/entry/link'
import { titleOf } from '../domain/entry/title'
import { invalidInput } from '../domain/errors'
import { formatSecond } from '../domain/time'
import { givenAs } from '../domain/validation'
import type { Services } from '../services/services'
import { type PairPlace, RESOLUTIONS, type Resolution } from '../services/stale/stale-pairs'
import { type Credential, runAsWriter } from './auth'
import { readObject } from './body'
import { namedProjectOrNone } from './named-project'
import { checkNames } from './query-names'

/** Pairs of memories that wait for a judgement: `/api/v1/orgs/:org/stale` (core contract §2.1). */

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

const MAX_BODY = 65_536
const PAGE = { usual: 20, most: 100 } as const

/** @throws Problem invalid_input */
export function readPlace(given: string | undefined | null): PairPlace | null {
  if (given === undefined || given === null || given === '') return null
  const [, shown, later, earlier] = /^(\d{1,9})-(\d{1,15})-(\d{1,15})$/.exec(given) ?? []
  if (shown === undefined || later === undefined || earlier === undefined)
    throw invalidInput('after must be the next of an earlier page')
  return { shown: Number(shown), later: Number(later), earlier: Number(earlier) }
}

export const placeOf = ({ shown, later, earlier }: PairPlace): string => `${shown}-${later}-${earlier}`

function readLimit(given: string | undefined): number {
  if (given === undefined || given === '') return PAGE.usual
  const limit = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (limit < 1) throw invalidInput(`limit must be a whole number from 1 to ${PAGE.most}`)
  return Math.min(limit, PAGE.most)
}

const shown = (entry: EntryPreview) => ({
  ...{ id: entry.id, title: titleOf(entry), kind: entry.kind, project: entry.project },
  ...{ at: formatSecond(holdsFrom(entry)), content: entry.text, total_chars: entry.chars },
})

/** A pair and how to settle it, as an API body or a form names it. @throws Problem invalid_input */
export function readResolution(
  later: unknown,
  earlier: unknown,
  as: unknown,
): MemoryPair & { readonly as: Resolution } {
  const pair = { later: readId(later), earlier: readId(earlier) }
  for (const [path, id] of Object.entries(pair))
    if (id === null) throw invalidInput(`${path} must be the ID of a memory`, [{ path, given: 'no ID' }])
  const resolution = RESOLUTIONS.find((one) => one === as)
  if (resolution === undefined)
    throw invalidInput(`as must be one of: ${RESOLUTIONS.join(', ')}`, [{ path: 'as', given: givenAs(as) }])
  return { later: pair.later as number, earlier: pair.earlier as number, as: resolution }
}

export function createStaleRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  routes.get('/:org/stale', async (c) => {
    checkNames(c.req.query(), ['project', 'after', 'limit'], 'a list of pairs')
    const { project, after, limit } = c.req.query()
    const { services } = c.var
    const { pairs, next } = await runAsWriter(c.var, c.req.param('org'), 'stale.list', async (caller) => {
      const named = await namedProjectOrNone(services, caller, project)
      return services.stalePairs.list(named.scope, {
        ...{ project: named.project, after: readPlace(after), limit: readLimit(limit) },
      })
    })
    return c.json({
      pairs: pairs.map(({ later, earlier, verdict, shown: times }) => ({
        ...{ later: shown(later), earlier: shown(earlier), verdict, shown: times },
      })),
      next: next === null ? null : placeOf(next),
    })
  })

  routes.post('/:org/stale', async (c) => {
    const body = await readObject(c.req.raw, ['later', 'earlier', 'as'], MAX_BODY)
    const { as, ...pair } = readResolution(body.later, body.earlier, body.as)
    const { services } = c.var
    const id = await runAsWriter(c.var, c.req.param('org'), 'stale.resolve', (caller) =>
      services.stalePairs.resolve(caller, pair, as),
    )
    services.afterwards(services.maintenance.work())
    return c.json({ id })
  })
  return routes
}
