import type { Metadata } from '../../domain/entry/metadata'
import { Inspection } from '../../domain/flaws'
import { once } from '../../domain/history/receipt'
import type { Caller, Scope } from '../../domain/identity/scope'
import { tellAgo } from '../../domain/recall/absence'
import type { EventMemory, ReportedEvent } from '../../domain/recall/events/event'
import { outcomeOf } from '../../domain/recall/events/outcomes'
import { bugsOf } from '../../domain/recall/filter'
import { redact } from '../../domain/recall/secrets'
import { firstCodePoints } from '../../domain/text'
import type { Clock } from '../../ports/clock'
import type { IndexCode, OpenedFile } from '../code/index-code'
import type { Along } from '../generate'
import { attempt } from '../outcome'
import type { MemoryDraft, MemoryService } from './memories'
import type { WordRecall, WordRequest } from './recall-words'

/** Remembers by itself what coding agents report (fabric contract §7). */
export interface SimilarMemory {
  readonly id: number
  readonly similarity: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface EventReport {
  /** The first is the one that stands for the event. */
  readonly memoryIds: readonly [number, ...number[]]
  readonly actions: readonly string[]
  readonly message: string
  /** Null when nothing went wrong. */
  readonly similar: readonly SimilarMemory[] | null
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
}

const LEAST_SHARE = 0.5
const MOST_SIMILAR = 5
/** Of the line that is looked for, in code points. */
const ERROR_LINE = 1_000

const NO_FILE: OpenedFile = { texts: [], index: async () => null }

function toldSimilar(similar: readonly SimilarMemory[], now: number): string {
  if (similar.length === 0) return 'No similar error known.'
  const last = Math.max(...similar.map(({ createdAt }) => createdAt))
  const noun = similar.length === 1 ? 'error' : 'errors'
  return `Found ${similar.length} similar ${noun}, last seen ${tellAgo(now - last)}.`
}

export type ReportEvent = ReturnType<typeof createReportEvent>

export function createReportEvent(dependencies: {
  readonly memories: Pick<MemoryService, 'storeTogether'>
  readonly recallWords: (scope: Scope, request: WordRequest) => Promise<WordRecall>
  readonly code: Pick<IndexCode, 'open'>
  readonly clock: Clock
}) {
  const { memories, recallWords, code, clock } = dependencies

  const draftOf = ({ type, layer, ttl, content, tags, metadata }: EventMemory, common: Metadata): MemoryDraft => ({
    ...{ type, layer, ttl, content },
    metadata: { source: 'system_auto', ...common, ...metadata, tags: ['auto_capture', ...tags] },
  })

  /** Earlier bugs, best first, by the beginning of the line that tells of one. */
  const similarTo = async (scope: Scope, project: string | null, line: string): Promise<readonly SimilarMemory[]> => {
    const query = firstCodePoints(line, ERROR_LINE)
    const { hits } = await recallWords(scope, { query, filter: bugsOf(project) })
    return hits.filter(({ share }) => share >= LEAST_SHARE)
  }

  /**
   * All memories of an event are stored together, or none; a file is indexed after that, by vectors of the same call of the embedder, and
   * what speaks against it is a warning.
   *
   * @param wrong what was wrong with the event before its payload was looked at
   * @throws Problem invalid_input that tells everything that is wrong, unavailable
   */
  return async (
    caller: Caller,
    project: string | null,
    event: ReportedEvent,
    wrong: Inspection = new Inspection(),
  ): Promise<EventReport> => {
    const { memories: left, actions, message, error, file } = outcomeOf(event, wrong)
    wrong.end()
    const found = async () => {
      const similar = error === null ? null : (await similarTo(caller, project, error)).slice(0, MOST_SIMILAR)
      return { similar, told: similar === null ? message : `${message} ${toldSimilar(similar, clock.now())}` }
    }
    const { similar, told } = await once(caller, 'found', found)
    const common: Metadata = {
      ...(project === null ? {} : { projectPath: project }),
      sessionId: redact(event.sessionId),
      cliType: event.reporter,
      eventTimestamp: new Date(event.at).toISOString(),
    }
    const open = () => attempt(async () => (file && project !== null ? code.open(caller, project, file) : NO_FILE))
    // What was carried out before may have its file already.
    const opened = caller.done ? null : await open()
    const along: Along = { texts: opened?.ok ? opened.value.texts : [], outcome: null }
    // The last of a batch is never the one that makes room, so the working memory comes last.
    const stored = await memories.storeTogether(
      caller,
      left.toReversed().map((memory) => draftOf(memory, common)),
      along,
    )
    const report = {
      memoryIds: stored.toReversed().map(({ id }) => id) as [number, ...number[]],
      ...{ actions, message: told, similar },
      evicted: stored[0]?.evicted ?? [],
      warnings: [],
    }
    if (file === null) return report
    if (project === null)
      return { ...report, warnings: ['The file is not indexed, because the event names no projectPath'] }
    const reason = await once(caller, 'unindexed', async () => {
      const known = opened ?? (await open())
      const indexed = known.ok ? await attempt(() => known.value.index(along.outcome ?? undefined)) : known
      return indexed.ok ? indexed.value : indexed.problem.message
    })
    return reason === null
      ? { ...report, actions: [...actions, 'indexed_file'] }
      : { ...report, warnings: [`The file is not indexed: ${reason}`] }
  }
}
