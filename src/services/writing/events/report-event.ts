import type { Metadata } from '../../../domain/entry/metadata'
import { unavailable } from '../../../domain/errors'
import type { Caller } from '../../../domain/identity/scope'
import { DuplicateConflict, type DuplicatePolicy, type EqualMemory } from '../../../domain/recall/duplicates'
import type { EventMemory, EventOutcome, Failure, ReportedEvent } from '../../../domain/recall/events/event'
import { countedAction, eventMessage, outcomeOf } from '../../../domain/recall/events/outcomes'
import { PROBLEM, problemKey, type Reported, sameProblem } from '../../../domain/recall/failure-key'
import { note } from '../../../domain/receipts/notes'
import { redact } from '../../../domain/secrets/redact'
import { IssueCollector } from '../../../domain/validation'
import type { Clock } from '../../../ports/clock'
import { attempt, type Outcome } from '../../outcome'
import type { IndexCode, OpenedFile } from '../code/index-code'
import type { Along } from '../entries/generate'
import type { MemoryDraft, MemoryService, StoredMemory } from '../memories/memories'
import type { SimilarMemories, SimilarMemory } from './similar-memories'

export interface EventReport {
  /** IDs of the stored memories; the first one represents the event. */
  readonly memoryIds: readonly [number, ...number[]]
  readonly actions: readonly string[]
  readonly message: string
  /** Memories similar to a failure, and their number; null if the event is not a failure. */
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number } | null
  readonly existing: boolean
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
  /** Whether a file is still to be indexed, which happens after the write. */
  readonly unindexed: boolean
}

/** The notes about an event before its write. */
export interface PlannedEvent extends Pick<EventReport, 'actions' | 'message' | 'similar'> {
  /** The memory that represents the problem and counts it; null for none. */
  readonly before: number | null
  /** For each memory of the event, whether it reports that problem. */
  readonly counts: readonly boolean[]
  readonly file: 'none' | 'homeless' | 'named'
}

/** Builds the outcome of an event. @param stored its memories, last one first */
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

/** Adds the reason why the file is not indexed. @param reason null if it is indexed */
const withIndexed = (report: EventReport, reason: string | null): EventReport => ({
  ...report,
  unindexed: false,
  ...(reason === null
    ? { actions: [...report.actions, 'indexed_file'] }
    : { warnings: [...report.warnings, `The file is not indexed: ${reason}`] }),
})

const MOST_SIMILAR = 5

/** Known memories of a failure before it is stored. */
export interface KnownFailure {
  readonly key: string
  /** All memories with the key of the failure. */
  readonly standing: readonly Reported[]
  /** The memory that represents the failure already. */
  readonly before: Reported | null
  /** Memories equal to those of the event. */
  readonly equals: readonly (EqualMemory | null)[]
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number }
}

/** Reads known memories of a failure in two round trips: words, then matches and memories with its key. */
function createFailureLookup({
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

/** Attempts if others report the same problem concurrently. */
const ATTEMPTS = 5
const TOO_BUSY = 'An equal event is being reported or deleted; report it again'

const NO_FILE: OpenedFile = { texts: [], index: async () => null }

export type ReportEvent = ReturnType<typeof createReportEvent>

/** Creates the service that stores reported events (fabric contract §7). */
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

  /** Stores the memories of an event. The last of a batch comes first, so that it does not evict itself. */
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

  /** Reads the file of an event for the index. */
  const open = (caller: Caller, project: string | null, { file }: Pick<EventOutcome, 'file'>) =>
    attempt(async () => (file && project !== null ? code.open(caller, project, file) : NO_FILE))

  /** Indexes the opened file. @returns why it is not indexed; null if it is */
  async function index(opened: Outcome<OpenedFile>, along: Along): Promise<string | null> {
    const indexed = opened.ok ? await attempt(() => opened.value.index(along.outcome ?? undefined)) : opened
    return indexed.ok ? indexed.value : indexed.problem.message
  }

  return {
    /**
     * Stores all memories of an event together, or none. Then indexes the file with vectors of the same embedder call; a file
     * that cannot be indexed is a warning.
     *
     * @param wrong problems of the event before its payload was checked
     * @throws Problem invalid_input that lists every problem, unavailable
     */
    async report(
      caller: Caller,
      project: string | null,
      event: ReportedEvent,
      wrong: IssueCollector = new IssueCollector(),
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
          message: eventMessage(outcome.message, known, clock.now()),
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
          if (tries === ATTEMPTS) throw unavailable(TOO_BUSY, error)
        }
      }
    },

    /** Indexes the file of an event whose server stopped after the write. */
    async finish(
      caller: Caller,
      project: string | null,
      event: ReportedEvent,
      report: EventReport,
    ): Promise<EventReport> {
      const opened = await open(caller, project, outcomeOf(event, project, new IssueCollector()))
      return withIndexed(report, await index(opened, { texts: [], outcome: null }))
    },
  }
}
