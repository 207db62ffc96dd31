import { compareText } from '../../domain/text'
import { DAY_MS, type Millis } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'
import type { UsageCounts, UsageRow, UsageStore } from '../../ports/usage'
import type { Step } from '../maintenance/schedule'
import type { Administration, Administrator } from './administration'
import type { ResolveNames } from './project-names'

/** Counts of one request of a key; of one without a key, the organization and the key are ''. */
export interface RequestUsage extends UsageCounts {
  readonly org: string
  readonly keyId: string
  /** The project that the call named, under any of its names; null for none. */
  readonly project: string | null
}

export const USAGE_BY = ['key', 'owner', 'project'] as const
export type UsageBy = (typeof USAGE_BY)[number]

/** The usage of a key, an owner or a project. */
export interface UsageSum extends UsageCounts {
  /** The ID of a key, the name of an owner, or the key of a project; '' for calls without project. */
  readonly of: string
  /** The name of a key, and its owner. */
  readonly key: { readonly name: string; readonly owner: string } | null
}

const plus = (a: UsageCounts, b: UsageCounts): UsageCounts => ({
  ...{
    requests: a.requests + b.requests,
    calls: a.calls + b.calls,
    failed: a.failed + b.failed,
    entries: a.entries + b.entries,
  },
  ...{ rowsRead: a.rowsRead + b.rowsRead, rowsWritten: a.rowsWritten + b.rowsWritten, tokens: a.tokens + b.tokens },
})

/** Time between two writes of an isolate. */
const WRITE_MS = 60_000

/**
 * Counts requests in this isolate. They are added to the database once a minute, with a later request: an isolate that ends before loses its
 * last minute. Requests without a call are written together with the next call, so that strangers cause no writes.
 */
export function createUsageCounter() {
  let counted = new Map<string, RequestUsage>()
  let writtenAt = Number.NEGATIVE_INFINITY

  function note(usage: RequestUsage): void {
    const name = JSON.stringify([usage.org, usage.keyId, usage.project])
    const before = counted.get(name)
    counted.set(name, before === undefined ? usage : { ...usage, ...plus(before, usage) })
  }

  return {
    note,
    /** Returns the counts since the last write if a minute has passed; else null. */
    due(now: Millis): readonly RequestUsage[] | null {
      if (now - writtenAt < WRITE_MS || ![...counted.values()].some(({ calls }) => calls > 0)) return null
      const taken = [...counted.values()]
      counted = new Map()
      writtenAt = now
      return taken
    },
  }
}

/** Records and reports how much each key is used. */
export type Usage = ReturnType<typeof createUsage>

export function createUsage({
  usage,
  store,
  administration,
  names,
  clock,
}: {
  readonly usage: UsageStore
  readonly store: Pick<IdentityStore, 'keys'>
  readonly administration: Pick<Administration, 'wholeActor'>
  readonly names: Pick<ResolveNames, 'names'>
  readonly clock: Clock
}) {
  const today = () => Math.floor(clock.now() / DAY_MS)

  /** Returns the existing projects that calls of an organization named. Other names are not stored. */
  async function projectsOf(org: string, requests: readonly RequestUsage[]): Promise<(name: string | null) => string> {
    const given = new Set(requests.flatMap(({ project }) => (project === null ? [] : [project])))
    if (given.size === 0) return () => ''
    const found = await names.names({ org, projects: null, owner: null }, given)
    return (name) => {
      const project = name === null ? null : found.of(name)
      return project === null || project.attachments.length > 0 ? '' : project.key
    }
  }

  return {
    /** Adds what requests used to the rows of today. */
    async add(requests: readonly RequestUsage[]): Promise<void> {
      const rows = new Map<string, UsageRow>()
      for (const [org, own] of Map.groupBy(requests, (request) => request.org)) {
        const projectOf = await projectsOf(org, own)
        for (const { keyId, project, ...counts } of own) {
          const row = { ...counts, org, day: today(), keyId, project: projectOf(project) }
          const name = JSON.stringify([org, keyId, row.project])
          const before = rows.get(name)
          rows.set(name, before === undefined ? row : { ...row, ...plus(before, row) })
        }
      }
      await usage.add([...rows.values()])
    },

    /** Returns the usage of each key today; nothing for a key that does not reach all projects. */
    async today(by: Administrator & { readonly kind: 'key' }): Promise<UsageSum[]> {
      return by.caller.projects === null ? this.report(by, by.caller.org, 1, 'key') : []
    },

    /**
     * Returns the usage of an organization in the last days, today included, most calls first.
     *
     * @throws Problem forbidden for a key that does not reach all projects, not_found for another organization
     */
    async report(by: Administrator, org: string, days: number, of: UsageBy): Promise<UsageSum[]> {
      await administration.wholeActor(by, org)
      const [rows, keys] = await Promise.all([
        usage.sums(org, today() - days + 1),
        of === 'project' ? [] : store.keys(org),
      ])
      const known = new Map(keys.map(({ id, name, owner }) => [id, { name, owner }]))
      const nameOf = ({ keyId, project }: (typeof rows)[number]) =>
        of === 'key' ? keyId : of === 'project' ? project : (known.get(keyId)?.owner ?? keyId)
      return [...Map.groupBy(rows, nameOf)]
        .map(([name, own]) => ({
          ...own.reduce<UsageCounts>(plus, NO_USAGE),
          of: name,
          key: of === 'key' ? (known.get(name) ?? null) : null,
        }))
        .sort((a, b) => b.calls - a.calls || compareText(a.of, b.of))
    },
  }
}

/** The counts of nothing. */
export const NO_USAGE: UsageCounts = {
  requests: 0,
  calls: 0,
  failed: 0,
  entries: 0,
  rowsRead: 0,
  rowsWritten: 0,
  tokens: 0,
}

/** Rows that one batch deletes. */
const ROWS = 1_000

/** Deletes the usage of days before the oldest row of the audit log. @param days that the audit log is retained */
export const usageStep = (usage: Pick<UsageStore, 'forget'>, clock: Clock, days: number): Step => ({
  name: 'usage of keys',
  every: DAY_MS,
  rounds: 5,
  round: async () => {
    const done = await usage.forget(Math.floor(clock.now() / DAY_MS) - days, ROWS)
    return { done, next: done < ROWS ? null : 'more' }
  },
})
