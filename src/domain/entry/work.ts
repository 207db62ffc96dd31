import type { Kind } from './kind'

export const WORK_STATUSES = ['todo', 'doing', 'blocked', 'review', 'done', 'archived'] as const
export type WorkStatus = (typeof WORK_STATUSES)[number]

/** Statuses of work that has begun and not ended (packs contract, "In-flight work"). */
export const IN_FLIGHT = ['doing', 'blocked', 'review'] as const

/** The kinds that are work (platform contract §2, section active_work). */
export const WORK_KINDS = ['task', 'epic', 'project'] as const satisfies readonly Kind[]

/** Whether a kind has a work status. */
export const isWork = (kind: string): boolean => WORK_KINDS.some((known) => known === kind)

/** Synonyms of statuses, in lower case with single spaces, from issue trackers and to-do lists of agents. */
const SYNONYMS: Readonly<Record<WorkStatus, string>> = {
  todo: 'to do, open, opened, reopened, pending, new, planned, backlog, queued, scheduled, not started, ready, triage',
  doing: 'in progress, inprogress, wip, work in progress, active, started, ongoing, in development, in flight',
  blocked: 'on hold, waiting, stuck, stalled, paused, impeded',
  review: 'in review, reviewing, needs review, ready for review, under review, testing, in testing',
  done: 'completed, complete, closed, finished, resolved, fixed, shipped, merged, delivered, released',
  archived: "cancelled, canceled, abandoned, dropped, obsolete, wontfix, won't fix, won't do",
}

const STATUS_OF: ReadonlyMap<string, WorkStatus> = new Map(
  WORK_STATUSES.flatMap((status) => [status, ...SYNONYMS[status].split(', ')].map((word) => [word, status] as const)),
)

/** Parses a status in any case, with spaces, hyphens or underscores; null for any other value. */
export const readWorkStatus = (value: unknown): WorkStatus | null =>
  typeof value === 'string' && value.length <= 40
    ? (STATUS_OF.get(
        value
          .trim()
          .toLowerCase()
          .replace(/[\s_-]+/g, ' '),
      ) ?? null)
    : null

/**
 * The warning about an unknown status of work.
 * @param kind kind of the entry; null if unknown
 * @param status status as sent
 */
export const statusWarnings = (kind: string | null, status: unknown): string[] =>
  kind === null ||
  !isWork(kind) ||
  typeof status !== 'string' ||
  status.trim() === '' ||
  readWorkStatus(status) !== null
    ? []
    : [
        `status "${status.slice(0, 40)}" is stored but unknown. Use one of ${WORK_STATUSES.join(', ')}, ` +
          'so that packs show whether the work is in progress or done',
      ]
