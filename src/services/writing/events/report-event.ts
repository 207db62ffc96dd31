import type { Metadata } from '../../../domain/entry/metadata'
import { unavailable } from '../../../domain/errors'
import { Inspection } from '../../../domain/flaws'
import type { Caller } from '../../../domain/identity/scope'
import { DuplicateConflict, type DuplicatePolicy, type Equal } from '../../../domain/recall/equal'
import type { EventMemory, EventOutcome, Failure, ReportedEvent } from '../../../domain/recall/events/event'
import { countedAction, outcomeOf, tellRecorded } from '../../../domain/recall/events/outcomes'
import { PROBLEM, problemKey, type Reported, sameProblem } from '../../../domain/recall/problem'
import { note } from '../../../domain/receipts/notes'
import { redact } from '../../../domain/secrets/redact'
import type { Clock } from '../../../ports/clock'
import { attempt, type Outcome } from '../../outcome'
import type { IndexCode, OpenedFile } from '../code/index-code'
import type { Along } from '../entries/generate'
import type { MemoryDraft, MemoryService, StoredMemory } from '../memories/memories'
import type { SimilarMemories, SimilarMemory } from './similar-memories'

/** What became of an event that was reported, as it is told at once and to a call made again. */

export interface EventReport {
  /** The first is the one that stands for the event. */
  readonly memoryIds: readonly [number, ...number[]]
  readonly actions: readonly string[]
  readonly message: string
  /** What else is known of what went wrong, and how much that is; null when nothing did. */
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number } | null
  readonly existing: boolean
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
  /** A file that is still to be indexed, which is done behind the write. */
  readonly unindexed: boolean
}

/** What is noted of an event before its write. */
export interface PlannedEvent extends Pick<EventReport, 'actions' | 'message' | 'similar'> {
  /** The memory that stood for the problem and counts it; null for none. */
  readonly before: number | null
  /** Of each memory that the event leaves, whether it tells of that problem. */
  readonly counts: readonly boolean[]
  readonly file: 'none' | 'homeless' | 'named'
}

/** What became of an event. @param stored what it left, in the order in which it was stored: the last first */
export function eventAs(planned: PlannedEvent, stored: readonly StoredMemory[]): EventReport {
  const { before, counts, file, actions, message, similar } = planned
  const left = stored.toReversed()
  const fresh = left.values()
  const [first, ...others] = counts.flatMap((counts) =>
    counts && before !== null ? before : (fresh.next().value?.id ?? []),
  )
  if (first === undefined) throw new Error('an event leaves at least one memory')
  return {
    memoryIds: [first, ...others],
    ...{ actions: before === null ? actions : actions.map(countedAction), message, similar },
    existing: before === null && left.some(({ existing }) => existing),
    evicted: [...new Set(left.flatMap(({ evicted }) => evicted))],
    warnings: [
      ...left.flatMap(({ warnings }) => warnings),
      ...(file === 'homeless' ? ['The file is not indexed, because the event names no projectPath'] : []),
    ],
    unindexed: file === 'named',
  }
}

/** @param reason why the file is not indexed; null when it is */
export const withIndexed = (report: EventReport, reason: string | null): EventReport => ({
  ...report,
  unindexed: false,
  ...(reason === null
    ? { actions: [...report.actions, 'indexed_file'] }
    : { warnings: [...report.warnings, `The file is not indexed: ${reason}`] }),
})

const MOST_SIMILAR = 5

/** What is known of a failure before it is stored. */
export interface KnownFailure {
  readonly key: string
  /** All that stands under its key. */
  readonly standing: readonly Reported[]
  /** The memory that stands for it already. */
  readonly before: Reported | null
  /** Memories that are equal to those which the event leaves. */
  readonly equals: readonly (Equal | null)[]
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number }
}

/** Asks what is known of a failure: in two round trips, words, then what they found beside what stands under the key. */
export function createFailureLookup({
  memories,
  similarMemories,
}: {
  readonly memories: Pick<MemoryService, 'equals' | 'reported'>
  readonly similarMemories: SimilarMemories
}) {
  return async (
    caller: Caller,
    project: string | null,
    failure: Failure,
    drafts: readonly MemoryDraft[],
  ): Promise<KnownFailure> => {
    const [read, readEquals, key] = await Promise.all([
      similarMemories(caller, project, failure.line),
      memories.equals(caller, drafts),
      problemKey(failure),
    ])
    const [found, equals, standing] = await Promise.all([read(), readEquals(), memories.reported(caller, project, key)])
    const before = sameProblem(failure, project, standing)
    const others = found.filter(({ id }) => id !== before?.id)
    return { key, standing, before, equals, similar: { shown: others.slice(0, MOST_SIMILAR), count: others.length } }
  }
}

/** How often a problem is looked for anew that others report at the same time. */
const MEETINGS = 5
const TOO_BUSY = 'An equal event is being reported or deleted; report it again'

const NO_FILE: OpenedFile = { texts: [], index: async () => null }

export type ReportEvent = ReturnType<typeof createReportEvent>

/** Remembers by itself what coding agents report (fabric contract §7). */
export function createReportEvent(dependencies: {
  readonly memories: Pick<MemoryService, 'storeTogether' | 'equals' | 'reported'>
  readonly similarMemories: SimilarMemories
  readonly code: Pick<IndexCode, 'open'>
  readonly clock: Clock
}) {
  const { memories, code, clock } = dependencies
  const lookUp = createFailureLookup(dependencies)

  const draftOf = ({ type, layer, ttl, content, tags, metadata }: EventMemory, common: Metadata): MemoryDraft => ({
    ...{ type, layer, ttl, content },
    metadata: { source: 'system_auto', ...common, ...metadata, tags: ['auto_capture', ...tags] },
  })

  /** Stores what an event leaves, the last of a batch first, which makes no room for itself. */
  async function keep(
    caller: Caller,
    project: string | null,
    { memories: left }: Pick<EventOutcome, 'memories'>,
    { common, known, along }: { readonly common: Metadata; readonly known: KnownFailure | null; readonly along: Along },
  ) {
    const before = known?.before ?? null
    const fresh = [...left.keys()].filter((i) => !(left[i]?.counts && before !== null)).toReversed()
    const drafts = fresh.map((i) => {
      const memory = left[i] as EventMemory
      return draftOf(memory, known && memory.counts ? { ...common, [PROBLEM]: known.key } : common)
    })
    const reported: Pick<DuplicatePolicy, 'problem' | 'count'> | null = known && {
      problem: before === null ? { project, key: known.key, known: known.standing } : null,
      count: before && { id: before.id, lastSeen: new Date(clock.now()).toISOString() },
    }
    const equals = known ? fresh.map((i) => known.equals[i] ?? null) : undefined
    return memories.storeTogether(caller, drafts, { along, reported, known: equals })
  }

  /** The file of an event, read as far as its index needs it. */
  const open = (caller: Caller, project: string | null, { file }: Pick<EventOutcome, 'file'>) =>
    attempt(async () => (file && project !== null ? code.open(caller, project, file) : NO_FILE))

  /** Indexes what was opened. @returns why it is not indexed; null when it is */
  async function index(opened: Outcome<OpenedFile>, along: Along): Promise<string | null> {
    const indexed = opened.ok ? await attempt(() => opened.value.index(along.outcome ?? undefined)) : opened
    return indexed.ok ? indexed.value : indexed.problem.message
  }

  return {
    /**
     * All memories of an event are stored together, or none; a file is indexed after that, by vectors of the same call of the embedder,
     * and what speaks against it is a warning.
     *
     * @param wrong what was wrong with the event before its payload was looked at
     * @throws Problem invalid_input that tells everything that is wrong, unavailable
     */
    async report(
      caller: Caller,
      project: string | null,
      event: ReportedEvent,
      wrong: Inspection = new Inspection(),
    ): Promise<EventReport> {
      const outcome = outcomeOf(event, project, wrong)
      wrong.end()
      const { failure, file } = outcome
      const common: Metadata = {
        ...(project === null ? {} : { projectPath: project }),
        sessionId: redact(event.sessionId),
        cliType: event.reporter,
        eventTimestamp: new Date(event.at).toISOString(),
      }
      const opened = await open(caller, project, outcome)
      const along: Along = { texts: opened.ok ? opened.value.texts : [], outcome: null }
      const drafts = outcome.memories.map((memory) => draftOf(memory, common))
      for (let tries = 1; ; tries++) {
        const known = failure && (await lookUp(caller, project, failure, drafts))
        if (known && caller.receipt) caller.receipt.notes.mentioned = known.similar.shown.map(({ id }) => id)
        const planned: PlannedEvent = {
          actions: outcome.actions,
          message: tellRecorded(outcome.message, known, clock.now()),
          similar: known?.similar ?? null,
          before: known?.before?.id ?? null,
          counts: outcome.memories.map(({ counts = false }) => counts),
          file: file === null ? 'none' : project === null ? 'homeless' : 'named',
        }
        note(caller, 'event', planned)
        try {
          const report = eventAs(planned, await keep(caller, project, outcome, { common, known, along }))
          if (!report.unindexed) return report
          const reason = await index(opened, along)
          note(caller, 'indexed', reason)
          return withIndexed(report, reason)
        } catch (error) {
          if (!(error instanceof DuplicateConflict)) throw error
          if (tries === MEETINGS) throw unavailable(TOO_BUSY, error)
        }
      }
    },

    /** Indexes the file of an event whose server died between its write and that. */
    async finish(
      caller: Caller,
      project: string | null,
      event: ReportedEvent,
      report: EventReport,
    ): Promise<EventReport> {
      const opened = await open(caller, project, outcomeOf(event, project, new Inspection()))
      return withIndexed(report, await index(opened, { texts: [], outcome: null }))
    },
  }
}
