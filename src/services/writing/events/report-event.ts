import type { Metadata } from '../../../domain/entry/metadata'
import { unavailable } from '../../../domain/errors'
import { Inspection } from '../../../domain/flaws'
import type { Caller } from '../../../domain/identity/scope'
import { type Meeting, MeetingFailed } from '../../../domain/recall/equal'
import type { EventMemory, EventOutcome, ReportedEvent } from '../../../domain/recall/events/event'
import { outcomeOf } from '../../../domain/recall/events/outcomes'
import { tellRecorded } from '../../../domain/recall/events/telling'
import { PROBLEM } from '../../../domain/recall/problem'
import { note } from '../../../domain/receipts/notes'
import { redact } from '../../../domain/secrets/redact'
import type { Clock } from '../../../ports/clock'
import { attempt, type Outcome } from '../../outcome'
import type { IndexCode, OpenedFile } from '../code/index-code'
import type { Along } from '../entries/generate'
import type { MemoryService } from '../memories/memories'
import type { MemoryDraft } from '../memories/stored-memory'
import { type EventReport, eventAs, type PlannedEvent, withIndexed } from './event-report'
import { createFailureLookup, type Known } from './known-failure'
import type { SimilarMemories } from './similar-memories'

/** How often a problem is looked for anew that others report at the same time. */
const MEETINGS = 5
const TOO_BUSY = 'Others report or delete the same at this moment; report it again'

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
    { common, known, along }: { readonly common: Metadata; readonly known: Known | null; readonly along: Along },
  ) {
    const before = known?.before ?? null
    const fresh = [...left.keys()].filter((i) => !(left[i]?.counts && before !== null)).toReversed()
    const drafts = fresh.map((i) => {
      const memory = left[i] as EventMemory
      return draftOf(memory, known && memory.counts ? { ...common, [PROBLEM]: known.key } : common)
    })
    const reported: Pick<Meeting, 'problem' | 'count'> | null = known && {
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
          if (!(error instanceof MeetingFailed)) throw error
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
