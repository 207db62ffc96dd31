import { Hono } from 'hono'
import * as z from 'zod'
import type { Config } from '../../config'
import type { Fields, HookClient } from '../../domain/capture/hook-event'
import { type HookRequest, readHookRequest, readRawEvent } from '../../domain/capture/hook-request'
import { isFields } from '../../domain/capture/json-fields'
import {
  cursorAfter,
  placeOfCursor,
  type ReviewedEntry,
  type ReviewPlace,
  readChangeId,
  toChangeId,
} from '../../domain/capture/review'
import { readId } from '../../domain/entry/link'
import type { JsonObject } from '../../domain/entry/metadata'
import { invalidInput, notFound, Problem } from '../../domain/errors'
import { mayAct } from '../../domain/identity/scope'
import { checkKey, savedBy } from '../../domain/receipts/receipt'
import { sha256Hex } from '../../domain/text'
import type { Millis } from '../../domain/time'
import { CLIENT_NAMES, hookClient, hookClientName } from '../../integrations/hooks/hook-clients'
import { approvalOf, mergedInto } from '../../services/capture/review-captured'
import type { Services } from '../../services/services'
import type { ProposedMemory } from '../../services/transfer/store-proposals'
import { execute, executeOnce, type Writing } from '../../tools/idempotency'
import { type Credential, requireOrg, runAsWriter } from '../auth'
import { readJsonBody, readObject } from '../body'
import type { Log } from '../log'
import { namedProject, namedProjectOrNone } from '../named-project'
import { checkNames } from '../query-names'

/** Receives events of client hooks (capture contract §3): `POST /api/v1/hooks/<client>`. */

const MAX_BODY = 1_048_576

interface Variables {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly log: Log; readonly config: Pick<Config, 'captureDays'> }
}

/** @throws Problem invalid_input for invalid JSON, limit_exceeded for a body that is too large */
async function readBody(request: Request): Promise<Fields> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(request, MAX_BODY)
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  if (body.kind !== 'json' || !isFields(body.value))
    throw invalidInput(
      'The body must be a JSON object: {events: [{id, at, event, place}], answer?, lost?}, or one event',
    )
  return body.value
}

/** Wraps a raw event in a request of its own; an unknown event gives a request without events. */
async function aloneOf(client: HookClient, event: Fields, now: Millis): Promise<HookRequest> {
  const raw = readRawEvent(client, event)
  if (raw === null) return { events: [], answer: null, again: [], unread: 1, lost: 0 }
  const { happening, identity, place } = raw
  const id = await sha256Hex(identity)
  return { events: [{ id, at: now, place, happening }], answer: id, again: [], unread: 0, lost: 0 }
}

export function createHooksRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Reports what a key may do with hooks; setup programs call it. */
  routes.get('/', (c) => {
    const { org, role, projects, captures, expiresAt } = requireOrg(c.var.credential)
    const { captureDays } = c.var.setup.config
    const why =
      captureDays === 0
        ? 'capture is off on this server (CAPTURE_DAYS=0)'
        : captures === false
          ? 'events sent with this key are not captured; memories are still recalled'
          : mayAct(role, 'writer')
            ? null
            : 'events sent with a reader key are not captured; memories are still recalled'
    return c.json({
      ...{ org, role, projects, capture: why === null },
      ...(why === null ? {} : { why }),
      ...(expiresAt === undefined ? {} : { expires_at: iso(expiresAt) }),
    })
  })

  routes.post('/:client', async (c) => {
    const { services, credential } = c.var
    const principal = requireOrg(credential)
    const name = hookClientName(c.req.param('client'))
    const client = hookClient(name)
    if (client === null) throw notFound(`No such client. Clients with hooks: ${CLIENT_NAMES.join(', ')}`)
    const body = await readBody(c.req.raw)
    const isRaw = !Object.hasOwn(body, 'events')
    const now = services.now()
    const request = isRaw ? await aloneOf(client, body, now) : readHookRequest(client, body, now)
    // The hook program has already warned the person; the operator finds it in the log.
    if (request.lost > 0) c.var.setup.log('WARNING', 'hook_events_lost', { client: name, lost: request.lost })
    const received = await services.capture.receive(principal, name, client, request)
    const { stored, repeated, output, cited, notice, memory, waiting, proposed } = received
    if (isRaw) return output === null ? c.body(null, 204) : c.json(output)
    return c.json({
      ...{ stored, repeated, output },
      ...(cited.length === 0 ? {} : { cited }),
      ...(notice === null ? {} : { notice }),
      ...(memory === null ? {} : { memory }),
      ...(waiting === null ? {} : { waiting }),
      ...(Object.keys(proposed).length === 0 ? {} : { proposed }),
    })
  })

  return routes
}

/** Routes to review captured sessions (capture contract §4, §5): `/api/v1/orgs/:org/captured`. */

/** Action of a restoration in the audit log. */
const left = z.object({ remaining: z.int() })

const MAX_REVIEW_BODY = 2_000_000
const PAGE = { usual: 50, most: 200 } as const

interface CapturedVariables {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly config: Config }
}
type Context = { readonly var: CapturedVariables; readonly req: { readonly raw: Request } }

const iso = (ms: Millis | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const shown = ({ updatedAt, expiresAt, threadId, quote, sources, approvedAudience, ...entry }: ReviewedEntry) => ({
  ...entry,
  ...{ updated_at: iso(updatedAt), expires_at: iso(expiresAt), thread_id: threadId },
  ...(quote === null ? {} : { quote }),
  ...(sources.length === 0 ? {} : { sources }),
  ...(approvedAudience === null ? {} : { approved_audience: approvedAudience }),
})

function readPlace(given: string | undefined): ReviewPlace | null {
  if (given === undefined || given === '') return null
  const place = placeOfCursor(given)
  if (place === null) throw invalidInput('after must be the value of next from an earlier page')
  return place
}

function readLimit(given: string | undefined): number {
  if (given === undefined || given === '') return PAGE.usual
  const limit = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (limit < 1) throw invalidInput(`limit must be a whole number from 1 to ${PAGE.most}`)
  return Math.min(limit, PAGE.most)
}

const textOr = (value: unknown, name: string): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalidInput(`${name} must be a string`)
  return value
}

const textFrom = (value: unknown, name: string): string => {
  const text = textOr(value, name)
  if (text === undefined) throw invalidInput(`${name} is required`)
  return text
}

function versionOr(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw invalidInput(`${name} must be a whole number from 1`)
  return value
}

function readIds(value: unknown): number[] {
  const ids = Array.isArray(value) ? value.map(readId) : [null]
  if (ids.some((id) => id === null)) throw invalidInput('ids must be a list of ids of captured entries')
  return [...new Set(ids.filter((id) => id !== null))]
}

function readVersions(value: unknown): Record<string, number> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidInput('expected_versions must be {id: version}')
  return Object.fromEntries(
    Object.entries(value).map(([id, version]) => [id, versionOr(version, `expected_versions.${id}`) as number]),
  )
}

function readProposals(value: unknown): ProposedMemory[] {
  if (!Array.isArray(value))
    throw invalidInput('proposals must be a list of {key, kind, title, content, tags?, metadata?}')
  return value.map((given: unknown, i) => {
    if (!isFields(given)) throw invalidInput(`proposals[${i}] must be an object`)
    const { tags = [], metadata = {} } = given
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
      throw invalidInput(`proposals[${i}].tags must be a list of strings`)
    if (!isFields(metadata)) throw invalidInput(`proposals[${i}].metadata must be an object`)
    const text = (name: string) => textFrom(given[name], `proposals[${i}].${name}`)
    const named = { key: text('key'), kind: text('kind'), title: text('title'), content: text('content') }
    return { ...named, tags, metadata: metadata as JsonObject }
  })
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createCapturedRoutes() {
  const routes = new Hono<{ Variables: CapturedVariables }>()

  /** Runs a write, which can be repeated under its `Idempotency-Key` (history contract §2). */
  async function once<Facts>(
    { var: variables, req }: Context,
    org: string,
    action: string,
    args: unknown,
    writing: Writing<Facts>,
  ): Promise<Record<string, unknown>> {
    const { services } = variables
    const given = req.raw.headers.get('idempotency-key')
    const key = given === null ? null : checkKey(given)
    const { result } = await runAsWriter(variables, org, action, (principal) =>
      key === null
        ? execute(principal, writing)
        : executeOnce({ principal, services, key, args, findsReceiptFirst: true }, writing),
    )
    services.afterwards(services.maintenance.work())
    return result
  }

  routes.get('/:org/captured', async (c) => {
    checkNames(c.req.query(), ['project', 'client', 'after', 'limit'], 'the list of captured sessions')
    const { project, client, after, limit } = c.req.query()
    const page = await runAsWriter(c.var, c.req.param('org'), 'captured.list', async (caller) => {
      const most = readLimit(limit)
      const named = await namedProjectOrNone(c.var.services, caller, project)
      const found = await c.var.services.capture.review.list(named.scope, {
        project: named.project,
        client: client === undefined || client === '' ? null : client,
        after: readPlace(after),
        limit: most + 1,
      })
      const items = found.slice(0, most)
      const last = found.length > most ? items.at(-1) : undefined
      return { items: items.map(shown), next: last === undefined ? null : cursorAfter(last) }
    })
    return c.json(page)
  })

  routes.post('/:org/captured', async (c) => {
    const body = await readObject(c.req.raw, ['from', 'project', 'audience', 'proposals'], MAX_REVIEW_BODY)
    const batch = {
      from: textFrom(body.from, 'from'),
      project: textOr(body.project, 'project') ?? null,
      audience: textOr(body.audience, 'audience') ?? null,
      proposals: readProposals(body.proposals),
    }
    const report = await runAsWriter(c.var, c.req.param('org'), 'captured.propose', (caller) =>
      c.var.services.transfer.propose(caller, batch),
    )
    c.var.services.afterwards(c.var.services.maintenance.work())
    return c.json(report)
  })

  routes.post('/:org/captured/:id/keep', async (c) => {
    const body = await readObject(c.req.raw, ['kind', 'title', 'expected_version'], MAX_REVIEW_BODY)
    const id = readId(c.req.param('id'))
    if (id === null) throw invalidInput('The id in the address must be the id of a captured entry')
    const given = {
      kind: textOr(body.kind, 'kind'),
      title: textOr(body.title, 'title'),
      expectedVersion: versionOr(body.expected_version, 'expected_version'),
    }
    const { review } = c.var.services.capture
    const answer = await once(
      c,
      c.req.param('org'),
      'captured.keep',
      { id, ...given },
      {
        async work(caller) {
          const { version } = await review.keep(caller, id, given)
          return { version }
        },
        recall: ({ effect: [kept] }) => ({ version: kept?.[1] ?? 0 }),
        answer: ({ version }) => ({ id, change_id: toChangeId(approvalOf(id, version)) }),
      },
    )
    return c.json(answer)
  })

  routes.post('/:org/captured/keep', async (c) => {
    const body = await readObject(c.req.raw, ['ids', 'expected_versions'], MAX_REVIEW_BODY)
    const given = { ids: readIds(body.ids), seen: readVersions(body.expected_versions) }
    const { review } = c.var.services.capture
    const answer = await once(c, c.req.param('org'), 'captured.keep', given, {
      async work(caller) {
        const { kept } = await review.keepAll(caller, given.ids, given.seen)
        return { kept: kept.map(([id, version]) => [id, version] as [number, number]) }
      },
      recall: ({ effect }) => ({ kept: effect.map(([id, version]) => [id, version - 1] as [number, number]) }),
      answer: ({ kept }) => ({ change_id: toChangeId({ did: 'keep_all', kept }) }),
    })
    return c.json(answer)
  })

  routes.post('/:org/captured/merge', async (c) => {
    const members = ['ids', 'kind', 'title', 'content', 'audience', 'expected_versions']
    const body = await readObject(c.req.raw, members, MAX_REVIEW_BODY)
    const given = {
      ids: readIds(body.ids),
      kind: textFrom(body.kind, 'kind'),
      title: textFrom(body.title, 'title'),
      content: textOr(body.content, 'content'),
      audience: textOr(body.audience, 'audience'),
      expectedVersions: readVersions(body.expected_versions),
    }
    const { review } = c.var.services.capture
    const answer = await once(c, c.req.param('org'), 'captured.merge', given, {
      async work(caller) {
        const { id } = await review.merge(caller, given)
        return { id, changeId: caller.changeId }
      },
      recall: (trace) => ({ id: savedBy(trace)[0]?.id ?? 0, changeId: trace.changeId }),
      answer: ({ id, ...call }) => ({ id, change_id: toChangeId(mergedInto(id, given.ids.length, call)) }),
    })
    return c.json(answer)
  })

  routes.post('/:org/captured/drop', async (c) => {
    const body = await readObject(c.req.raw, ['ids', 'expected_versions'], MAX_REVIEW_BODY)
    const given = { ids: readIds(body.ids), seen: readVersions(body.expected_versions) }
    const { review } = c.var.services.capture
    const answer = await once(c, c.req.param('org'), 'captured.drop', given, {
      async work(caller) {
        await review.drop(caller, given.ids, given.seen)
        return { dropped: caller.changeId }
      },
      recall: ({ changeId }) => ({ dropped: changeId }),
      answer: ({ dropped }) => ({ change_id: toChangeId({ did: 'drop', dropped }) }),
    })
    return c.json(answer)
  })

  routes.post('/:org/captured/undo', async (c) => {
    const { change_id } = await readObject(c.req.raw, ['change_id'], MAX_REVIEW_BODY)
    const reviewed = readChangeId(change_id)
    const { review } = c.var.services.capture
    const answer = await once(
      c,
      c.req.param('org'),
      'captured.undo',
      { change_id },
      {
        async work(caller) {
          await review.undo(caller, reviewed)
          return { changeId: caller.changeId, remaining: 0 }
        },
        recall({ changeId, notes }) {
          const { remaining } = left.parse(notes.restored)
          // A merge may include the memory that it created.
          return { changeId, remaining: reviewed.did === 'merge' ? remaining + 1 : remaining }
        },
        answer: ({ changeId }) => ({ change_id: changeId }),
        unfinished: {
          when: ({ remaining }) => remaining > 0,
          async finish(caller, { changeId }) {
            await review.undo(caller, reviewed)
            return { changeId, remaining: 0 }
          },
        },
      },
    )
    return c.json(answer)
  })

  routes.delete('/:org/captured', async (c) => {
    const erased = await runAsWriter(c.var, c.req.param('org'), 'captured.erase', async (caller) => {
      const given = c.req.query('project')
      if (given === undefined)
        throw invalidInput('project is required: name the project whose captured sessions are erased')
      const { scope, project } = await namedProject(c.var.services, caller, given)
      return c.var.services.capture.erase(scope, project)
    })
    return c.json({ erased })
  })

  return routes
}
