import { Hono } from 'hono'
import type { Config } from '../config'
import { readId } from '../domain/entry/link'
import { invalidInput } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { temporal } from '../domain/recall/calendar'
import { givenAs } from '../domain/validation'
import type { Services } from '../services/services'
import type { ExplainedCall, Explanation } from '../services/why/explain-miss'
import { context, packArguments } from '../tools/core/context'
import { limitOf, search } from '../tools/core/search'
import { conditions, instantOf } from '../tools/core/vocabulary'
import type { Tool } from '../tools/define-tool'
import { type Credential, requireNamedOrg } from './auth'
import { namedProjectOrNone } from './named-project'
import { checkNames, type Query } from './query-names'

/** Why a call did not return a memory: `/api/v1/orgs/:org/why` (operate contract §1.1). */

interface Variables {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly config: Config }
}

const TOOLS = ['context', 'search'] as const
const MODES = ['hybrid', 'words', 'meaning'] as const
const FILTERS = ['kind', 'tags', 'by', 'since', 'until', 'thread'] as const
const NAMES = ['query', 'id', 'tool', 'project', 'as_of', 'mode', 'limit', 'max_tokens', ...FILTERS]
/** Arguments that only one of the tools has. */
const OF_SEARCH = ['tags', 'by', 'until', 'thread', 'mode'] as const

const wrong = (path: string, message: string, given: unknown) =>
  invalidInput(`${path} ${message}`, [{ path, given: givenAs(given) }])

function oneOf<T extends string>(path: string, given: string | undefined, known: readonly [T, ...T[]]): T {
  if (given === undefined || given === '') return known[0]
  const found = known.find((one) => one === given)
  if (found === undefined) throw wrong(path, `must be one of: ${known.join(', ')}`, given)
  return found
}

function numberIn(query: Query, path: string): number | undefined {
  const given = query[path]
  if (given === undefined || given === '') return undefined
  if (!/^\d{1,9}$/.test(given)) throw wrong(path, 'must be a whole number', given)
  return Number(given)
}

const listIn = (given: string | undefined): string[] | undefined => {
  const words = (given ?? '').split(',').map((word) => word.trim())
  const some = words.filter((word) => word !== '')
  return some.length === 0 ? undefined : some
}

const textIn = (given: string | undefined): string | undefined =>
  given === undefined || given.trim() === '' ? undefined : given

/** IDs that an answer of `context` or `search` returns, in its order. */
function returnedIn(answer: Record<string, unknown>): number[] {
  const { results, sections } = answer as {
    results?: readonly { id: number }[]
    sections?: readonly { memories: readonly { id: number }[] }[]
  }
  return [...(results ?? []), ...(sections ?? []).flatMap(({ memories }) => memories)].map(({ id }) => id)
}

/**
 * Makes a call of `context` or `search` again, and explains why it does not return a memory.
 *
 * @throws Problem invalid_input, or forbidden for a project that the key does not reach
 */
export async function explain(
  { services, config, origin }: { readonly services: Services; readonly config: Config; readonly origin: string },
  caller: Caller,
  query: Query,
): Promise<Explanation> {
  await temporal.load()
  checkNames(query, NAMES, 'why')
  const id = readId(query.id)
  if (id === null) throw wrong('id', 'must be the ID of a memory', query.id ?? 'no ID')
  const asked = textIn(query.query)
  if (asked === undefined) throw invalidInput('query is required: the query or the goal of the call')
  const tool = oneOf('tool', query.tool, TOOLS)
  const foreign = tool === 'search' ? 'max_tokens' : OF_SEARCH.find((name) => textIn(query[name]) !== undefined)
  if (foreign !== undefined && textIn(query[foreign]) !== undefined)
    throw wrong(foreign, `is not an argument of ${tool}`, query[foreign])
  const now = services.now()
  const asOf = textIn(query.as_of) === undefined ? null : instantOf(query.as_of as string, 'as_of', now)
  const given = {
    ...{ kind: listIn(query.kind), since: textIn(query.since) },
    ...(tool === 'context'
      ? {}
      : { tags: listIn(query.tags), by: textIn(query.by), until: textIn(query.until), thread: textIn(query.thread) }),
  }
  const filters = conditions(given, now)
  const limit = numberIn(query, 'limit')
  const named = await namedProjectOrNone(services, caller, textIn(query.project))
  const project = named.project ?? undefined
  const mode = oneOf('mode', query.mode, MODES)
  const maxTokens = numberIn(query, 'max_tokens')
  const made = { ...given, limit, project: textIn(query.project) }
  const again = (of: Tool, args: Record<string, unknown>) =>
    of.call({ principal: caller, services, config, origin }, JSON.parse(JSON.stringify(args)))
  const answer =
    asOf !== null
      ? null
      : await (tool === 'context'
          ? again(context, { ...made, goal: asked, max_tokens: maxTokens })
          : again(search, { ...made, query: asked, mode }))
  const call = { id, asOf, project: named.project, conditions: filters }
  const returned = answer === null ? null : returnedIn(answer.structured)
  const goal = asked.trim()
  const explained: ExplainedCall =
    tool === 'context'
      ? {
          ...{ ...call, tool, returned },
          pack: packArguments(
            goal,
            { kind: given.kind, since: given.since, project, limit, max_tokens: maxTokens },
            now,
          ),
        }
      : { ...call, tool, returned, search: { query: asked, mode, limit: limitOf(limit) } }
  return services.explainMiss(named.scope, explained)
}

export function createWhyRoute() {
  const routes = new Hono<{ Variables: Variables }>()
  routes.get('/:org/why', async (c) => {
    const { services, credential, setup } = c.var
    const principal = requireNamedOrg(credential, c.req.param('org'))
    const caller: Caller = { ...principal, action: 'why', tool: null, changeId: services.ids.next() }
    const { origin } = new URL(c.req.url)
    return c.json(await explain({ services, config: setup.config, origin }, caller, c.req.query()))
  })
  return routes
}
