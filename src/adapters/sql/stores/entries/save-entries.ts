import type { SQL } from 'drizzle-orm'
import { type EntryChange, type NewEntry, statesOf } from '../../../../domain/entry/entry-write'
import type { Metadata } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/terms'
import type { Caller } from '../../../../domain/identity/scope'
import { MeetingFailed } from '../../../../domain/recall/equal'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { type IndexedText, indexText, type WrittenText } from '../../../../domain/search/indexed-text'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { arrange } from '../../core/arrange'
import { Batch } from '../../core/batch'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { firstRow, jsonOrNull, num, onlyRow } from '../../core/rows'
import { beyondShare } from '../../core/write-share'
import { auditStatement } from '../../tables/changes/audit-log'
import { capturedGuards, replaceStatements } from '../../tables/changes/captured-sources'
import { besideStored, toEvicted } from '../../tables/changes/life-statements'
import { type Taking, takenBy } from '../../tables/changes/quota'
import { tellShown, tellSummarized, toBatchOutput } from '../../tables/changes/telling'
import type { Write } from '../../tables/changes/writing'
import { countedLater } from '../../tables/counts/counted-later'
import { areFirstInThread, repeatedTurnStatement, reservedKeysGuards } from '../../tables/entries/repeated-turn'
import { relatedGuards } from '../../tables/links/related-links'
import { EQUAL, meet } from '../../tables/memories/met-again'
import { imageGuard } from '../../tables/outbox/image-use'
import { createSendAhead } from '../../tables/texts/sent-ahead'
import { createIndexWriter } from '../../tables/vectors/index-writer'
import type { WriteContext } from '../../tables/writes/entry-columns'
import { changeStatements, saveStatements, versionGuard } from '../../tables/writes/write-statements'

const CHANGED = 'The entry was changed by someone else at the same time; try again'
const LOST = 'An entry or image that this one is about is being changed at this moment; try again'

const toSaved = (row: Row) => ({
  id: num(row, 'id'),
  version: num(row, 'version'),
  summarized: Boolean(row.summarized),
})

const turnOf = ({ threadId, source, textHash }: NewEntry): string => JSON.stringify([threadId, source, textHash])

/** Whether some may be the next version of another one of the same call. */
const repeats = (entries: readonly NewEntry[]): boolean =>
  new Set(entries.map(({ threadId, textHash }) => JSON.stringify([threadId, textHash]))).size < entries.length

/** What `save` and `change` stand on. */
interface Writing {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: Clock
  readonly terms: HistoryTerms
  /** Within the limits of the org. */
  readonly writeWithin: Write
}

/** The entry store's `save` and `change`: whole texts, with their words. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSave({
  connection,
  analyzer,
  clock,
  terms,
  writeWithin,
}: Writing): Pick<EntryStore, 'save' | 'repeated' | 'change'> {
  const { dialect } = connection
  const sendAhead = createSendAhead(connection, clock)
  const indexWriter = createIndexWriter(connection, analyzer)

  /** As `writeWithin`; @throws MeetingFailed; Problem conflict when another premise failed */
  const write = async (caller: Caller, own: Parameters<Write>[1], conflict: string, states: readonly Taking[]) =>
    writeWithin(caller, own, { takes: () => takenBy(states) }).catch((error: unknown) => {
      if (!(error instanceof PremiseFailed)) throw error
      throw error.premise === EQUAL ? new MeetingFailed() : new Problem('conflict', conflict)
    })

  const writing = (caller: Caller) => ({ dialect, scope: caller, now: clock.now() })
  /** The analysis of each text, before anything is written; null where there is none. */
  async function analyse(written: readonly (WrittenText | null)[]): Promise<(IndexedText | null)[]> {
    const analyses: (IndexedText | null)[] = []
    for (const one of written) analyses.push(one === null ? null : await scheduler.run(indexText(analyzer, one)))
    return analyses
  }

  /** Statements of each part; making them reads whole texts too. */
  async function statementsOf<T>(parts: readonly T[], make: (part: T, i: number) => SQL[], size: (part: T) => number) {
    const statements: SQL[][] = []
    for (const [i, part] of parts.entries()) {
      statements.push(make(part, i))
      await scheduler.tick(size(part))
    }
    return statements
  }

  return {
    async save(caller, entries, { dedupe = true, knownRemovals = [], meeting, replaces = [] } = {}) {
      const later = beyondShare(entries.map(({ text }) => text.length))
      const analyses = await analyse(entries.map((entry, i) => (later[i] ? null : entry)))
      const texts = entries.map(({ text, textHash: hash }) => ({ text, hash }))
      const ahead = await sendAhead(caller.org, texts)
      const context: WriteContext = { ...writing(caller), sent: ahead.sent }
      const areGuarded = areFirstInThread(entries)
      const last = new Map(entries.map((entry, i) => [turnOf(entry), i]))
      const { batch: stored, firsts } = arrange(
        dialect,
        await statementsOf(
          entries,
          (entry, i) =>
            saveStatements(context, entry, analyses[i] ?? null, {
              before: dialect.likeTogether ? entries.length - 1 - i : 0,
              dedupe,
              isGuarded: areGuarded[i] === true,
              repeatedLater: last.get(turnOf(entry)) !== i,
            }),
          ({ text }) => text.length,
        ),
        toSaved,
      )
      const hashes = entries.flatMap((entry) => (entry.images ?? []).map(({ hash }) => hash))
      const beside = besideStored(context, entries, meet(context, meeting, entries))
      const counting = countedLater(dialect, caller.org, dedupe && repeats(entries) ? 0 : entries.length)
      const batch = new Batch(...capturedGuards(context, replaces), ...beside.before, ...counting.before)
        // Before the entries are written, so that none links to the ID that it is about to get.
        .do(relatedGuards(context, entries))
        .do(dedupe ? reservedKeysGuards(context, entries, EQUAL) : [])
        .join(stored)
        .do(counting.after)
      const gone = beside.evict && batch.add(beside.evict, toEvicted)
      batch
        .do(beside.after)
        .do(replaceStatements(context, replaces))
        .do(imageGuard(dialect, caller.org, hashes, knownRemovals))
        .do(ahead.arrived)
      // Who meets an entry again tells whether it has a summary.
      const own = (since: SQL) =>
        new Batch().join(batch).do(dedupe && caller.receipt ? [tellSummarized(dialect, caller.org, since)] : [])
      const result = await ahead.commit(() => write(caller, own, LOST, entries))
      const evicted = gone === null ? [] : result.of(gone)
      const saved = firsts.map((handle) => result.of(handle))
      const unsearchable = entries.flatMap(({ textHash, generated: { vectors } }, i) => {
        const id = saved[i]?.id
        return later[i] && id !== undefined ? [{ id, textHash, vectors }] : []
      })
      const completed = await indexWriter.complete(caller.org, unsearchable)
      return saved.map((one, i) => ({
        ...one,
        evicted,
        isNew: one.version === 1,
        searchable: completed || !later[i],
      }))
    },

    async repeated(caller, entries) {
      const batch = new Batch()
      const read = firstRow((row) => jsonOrNull<Metadata>(row, 'metadata'))
      const turns = entries.map((entry) => batch.add(repeatedTurnStatement(writing(caller), entry), read))
      const result = await batch.run(connection)
      return turns.map((turn) => result.of(turn))
    },

    async change(caller, changes: readonly EntryChange[], { knownRemovals = [], shows = false } = {}) {
      const later = beyondShare(changes.map(({ indexed }) => (indexed ? (indexed.text?.length ?? Infinity) : 0)))
      const analyses = await analyse(
        changes.map(({ text, indexed }, i) => {
          if (later[i] || !(indexed ?? text)) return null
          return { text: indexed?.text ?? text?.text ?? '', metadata: indexed?.metadata ?? null }
        }),
      )
      const keeps = terms.days > 0
      const states = keeps ? changes.flatMap(statesOf) : changes
      const texts = states.flatMap(({ text }) => text ?? [])
      const ahead = await sendAhead(caller.org, texts)
      const context: WriteContext = { ...writing(caller), sent: ahead.sent }
      const event = { ...caller, allowed: true, ids: changes.map(({ id }) => id), detail: { updated: changes.length } }
      // Who reads the feed sees the states of an entry one after the other.
      const { batch: changed, firsts } = arrange(
        { likeTogether: dialect.likeTogether && states.length === changes.length },
        await statementsOf(
          changes,
          (change, i) => changeStatements(context, change, analyses[i] ?? null, { later: later[i] ?? false, keeps }),
          ({ indexed }) => indexed?.text?.length ?? 0,
        ),
        (row) => num(row, 'version'),
      )
      const hashes = states.flatMap((state) => (state.images ?? []).map(({ hash }) => hash))
      const batch = new Batch(versionGuard(context, changes))
        .join(changed)
        .do([auditStatement(caller.org, context.now, event)])
        .do(imageGuard(dialect, caller.org, hashes, knownRemovals))
        .do(ahead.arrived)
      const output = shows
        ? batch.add(tellShown(dialect, caller.org, changes[0]?.id ?? 0), onlyRow(toBatchOutput))
        : null
      const result = await ahead.commit(() => write(caller, batch, CHANGED, states))
      const unsearchable = changes.flatMap(({ id, text, generated }, i) =>
        later[i] ? { id, textHash: text?.hash ?? '', vectors: generated?.vectors ?? null } : [],
      )
      const completed = await indexWriter.complete(caller.org, unsearchable)
      const after = output === null ? undefined : result.of(output).shown
      return firsts.map((version, i) => ({
        version: result.of(version) + (keeps ? (changes[i]?.between?.length ?? 0) : 0),
        searchable: completed || !later[i],
        ...(after === undefined ? {} : { after }),
      }))
    },
  }
}
