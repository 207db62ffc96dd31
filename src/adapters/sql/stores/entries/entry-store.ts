import { type SQL, sql } from 'drizzle-orm'
import { type EntryChange, statesOf } from '../../../../domain/entry/entry'
import { limitExceeded, Problem } from '../../../../domain/errors'
import { type HistoryTerms, NO_HISTORY } from '../../../../domain/history/terms'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../../domain/pace'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import { MeetingFailed } from '../../../../domain/recall/equal'
import type { Analyzer } from '../../../../domain/search/analysis'
import { type IndexedText, indexText, type WrittenText } from '../../../../domain/search/indexed-text'
import { beyondShare, WRITE_SHARE } from '../../../../domain/write-share'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { arrange } from '../../core/arrange'
import { Batch, readOne, runOne } from '../../core/batch'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { asRows, each, firstRow, json, num, numbersOf, onlyRow, str, strOrNull } from '../../core/rows'
import { visible } from '../../core/visibility'
import { auditStatement } from '../../tables/changes/audit-log'
import { besideStored, toEvicted } from '../../tables/changes/life-statements'
import { type Taking, takenBy } from '../../tables/changes/quota'
import { changedBefore, tellShown, tellSummarized, toShown } from '../../tables/changes/telling'
import { createWrite, type Write } from '../../tables/changes/writing'
import { readStatistics } from '../../tables/counts/statistics-statements'
import { previewsOf } from '../../tables/entries/previews'
import {
  entriesById,
  previewsStatement,
  type ReadContext,
  stretchesStatement,
  toChangeStatement,
  withinStatement,
} from '../../tables/entries/read-statements'
import { ENTRY_COLUMNS, readRows, readWithin, toEntry } from '../../tables/entries/rows'
import { shareOf } from '../../tables/entries/share'
import { premiseProblem, relatedGuards } from '../../tables/links/related-links'
import { EQUAL, meet } from '../../tables/memories/met-again'
import { imageGuard, imageTypeStatement, marksStatement } from '../../tables/outbox/image-use'
import { pageInParts } from '../../tables/pages/page-in-parts'
import { readPage } from '../../tables/pages/page-statements'
import { threadPage } from '../../tables/pages/thread-page'
import { textOf } from '../../tables/texts/long-texts'
import { createSendAhead } from '../../tables/texts/sent-ahead'
import { createIndexWriter } from '../../tables/vectors/index-writer'
import type { WriteContext } from '../../tables/writes/entry-columns'
import { changeStatements, saveStatements, versionGuard } from '../../tables/writes/write-statements'
import { createDelete } from './delete-entries'
import { createPatch } from './patch'

const CHANGED = 'The entry was changed by someone else at the same time; try again'
const LOST = 'An entry or image that this one is about is being changed at this moment; try again'

/** Metadata, tags and images of entries that one call changes: parsed, they take several times as much of a Worker's 128 MB. */
const MOST_BESIDE = 8_000_000

const toTold = (row: Row) => toShown(json<unknown[]>(row, 'told'))

const toSaved = (row: Row) => ({
  id: num(row, 'id'),
  version: num(row, 'version'),
  summarized: Boolean(row.summarized),
})

/** The entry store over any SQL connection; what differs between databases is in the connection's dialect. */
export function createSqlEntryStore(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  indexedFields: ReadonlySet<string>,
  pace: Pace = WITHOUT_REST,
  quotas: Quotas = NO_QUOTAS,
  terms: HistoryTerms = NO_HISTORY,
): EntryStore {
  const { dialect } = connection
  const writeAll = createWrite(connection, clock, terms, pace)
  const sendAhead = createSendAhead(connection, clock, pace)
  const indexWriter = createIndexWriter(connection, analyzer, pace)

  /** As `writeAll`, within the limits of the org. @throws Problem limit_exceeded when it would pass one, or for a premise with a name */
  const writeWithin: Write = async (caller, own, options) => {
    try {
      return await writeAll(caller, own, { quotas, ...options })
    } catch (error) {
      throw (error instanceof PremiseFailed ? premiseProblem(error.premise) : null) ?? error
    }
  }

  /** As `writeWithin`; @throws MeetingFailed; Problem conflict when another premise failed */
  const write = async (caller: Caller, own: Parameters<Write>[1], conflict: string, states: readonly Taking[]) =>
    writeWithin(caller, own, { takes: () => takenBy(states) }).catch((error: unknown) => {
      if (!(error instanceof PremiseFailed)) throw error
      throw error.premise === EQUAL ? new MeetingFailed() : new Problem('conflict', conflict)
    })

  const writing = (caller: Caller) => ({ dialect, scope: caller, now: clock.now() })
  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields })

  /** The analysis of each text, before anything is written; null where there is none. */
  async function analyse(written: readonly (WrittenText | null)[]): Promise<(IndexedText | null)[]> {
    const analyses: (IndexedText | null)[] = []
    for (const one of written) analyses.push(one === null ? null : await pace.run(indexText(analyzer, one)))
    return analyses
  }

  /** Statements of each part; making them reads whole texts too. */
  async function statementsOf<T>(parts: readonly T[], make: (part: T, i: number) => SQL[], size: (part: T) => number) {
    const statements: SQL[][] = []
    for (const [i, part] of parts.entries()) {
      statements.push(make(part, i))
      await pace.spend(size(part))
    }
    return statements
  }

  const previews: EntryStore['previews'] = async (scope, filter, ids, previewLength) => {
    if (ids.length === 0) return []
    const context = reading(scope)
    const rows = await readOne(connection, previewsStatement(context, filter, ids, { previewLength }), asRows)
    const places = new Map(ids.map((id, place) => [id, place]))
    const inOrder = rows.toSorted((a, b) => (places.get(Number(a.id)) ?? 0) - (places.get(Number(b.id)) ?? 0))
    return previewsOf(connection, context, inOrder, { filter, previewLength, pace })
  }

  return {
    async save(caller, entries, { dedupe = true, knownRemovals = [], meeting } = {}) {
      const later = beyondShare(entries.map(({ text }) => text.length))
      const analyses = await analyse(entries.map((entry, i) => (later[i] ? null : entry)))
      const texts = entries.map(({ text, textHash: hash }) => ({ text, hash }))
      const ahead = await sendAhead(caller.org, texts)
      const context: WriteContext = { ...writing(caller), sent: ahead.sent }
      const { batch: stored, firsts } = arrange(
        dialect,
        await statementsOf(
          entries,
          (entry, i) =>
            saveStatements(context, entry, analyses[i] ?? null, {
              before: dialect.likeTogether ? entries.length - 1 - i : 0,
              dedupe,
            }),
          ({ text }) => text.length,
        ),
        toSaved,
      )
      const hashes = entries.flatMap((entry) => (entry.images ?? []).map(({ hash }) => hash))
      const beside = besideStored(context, entries, meet(context, meeting, entries))
      const batch = new Batch(...beside.before).join(stored).do(relatedGuards(context, entries))
      const gone = beside.evict && batch.add(beside.evict, toEvicted)
      batch
        .do(beside.after)
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

    async read(scope, ids) {
      if (ids.length === 0) return []
      const rows = await readOne(
        connection,
        sql`SELECT ${ENTRY_COLUMNS}, ${textOf()} AS text FROM ${entriesById(dialect, ids)} WHERE ${visible(dialect, scope, clock.now())}`,
        asRows,
      )
      return readRows(rows ?? [], pace, toEntry)
    },

    async readToChange(scope, ids) {
      if (ids.length === 0) return []
      const most = { text: WRITE_SHARE, metadata: MOST_BESIDE }
      const rows = await runOne(connection, toChangeStatement(reading(scope), [...ids], most), asRows)
      if (rows.some(({ bare }) => Boolean(bare)))
        throw limitExceeded(
          `The metadata, tags and images of these entries are more than ${MOST_BESIDE} bytes; update them in several calls`,
        )
      return readRows(rows, pace, (row) => ({
        ...toEntry(row),
        text: strOrNull(row, 'text'),
        textHash: str(row, 'text_hash'),
      }))
    },

    async readWithin(scope, ids, maxBytes) {
      if (ids.length === 0) return { entries: [], omitted: [] }
      const rows = await readOne(
        connection,
        withinStatement({ dialect, scope, now: clock.now() }, [...new Set(ids)], maxBytes),
        asRows,
      )
      return readWithin(rows, pace)
    },

    async page(scope, filter, request) {
      const context = reading(scope)
      const { page, total } = await readPage(connection, context, filter, request)
      const { previewLength } = request
      const share = shareOf(dialect, filter)
      if (total === null && share !== null) {
        const inParts = await pageInParts(connection, pace, context, filter, share, request)
        return { entries: await previews(scope, filter, inParts.ids, previewLength), total: inParts.total }
      }
      return {
        entries: await previewsOf(connection, context, page, { filter, previewLength, pace }),
        total: total ?? 0,
      }
    },

    previews,

    async stretches(scope, filter, wanted) {
      if (wanted.length === 0) return []
      return readOne(
        connection,
        stretchesStatement(reading(scope), filter, wanted),
        each((row) => ({ id: num(row, 'id'), text: str(row, 'text') })),
      )
    },

    async change(caller, changes: readonly EntryChange[], { knownRemovals = [], shows = false } = {}) {
      if (caller.done) return [changedBefore(caller.done)]
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
      const { batch: changed, firsts } = arrange(
        dialect,
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
      const told = shows ? batch.add(tellShown(dialect, caller.org, changes[0]?.id ?? 0), onlyRow(toTold)) : null
      const result = await ahead.commit(() => write(caller, batch, CHANGED, states))
      const unsearchable = changes.flatMap(({ id, text, generated }, i) =>
        later[i] ? { id, textHash: text?.hash ?? '', vectors: generated?.vectors ?? null } : [],
      )
      const completed = await indexWriter.complete(caller.org, unsearchable)
      return firsts.map((version, i) => ({
        version: result.of(version) + (keeps ? (changes[i]?.between?.length ?? 0) : 0),
        searchable: completed || !later[i],
        ...(told === null ? {} : { after: result.of(told) }),
      }))
    },

    async imageRemovals(caller, hashes) {
      return runOne(connection, marksStatement(dialect, caller.org, hashes), numbersOf('id'))
    },

    ...createPatch(connection, writeWithin, clock),

    ...createDelete(connection, writeAll, clock, pace),

    threads: async (scope, window) => threadPage(connection, pace, reading(scope), window),

    async statistics(scope) {
      const context = reading(scope)
      return readStatistics(connection, pace, context)
    },

    async summarize({ id, textHash }, summary) {
      await new Batch(sql`UPDATE entries SET summary = ${summary} WHERE id = ${id} AND text_hash = ${textHash}`).run(
        connection,
      )
    },

    async imageType(scope, hash) {
      return readOne(
        connection,
        imageTypeStatement(dialect, scope, hash, clock.now()),
        firstRow((row) => strOrNull(row, 'mime_type')),
      )
    },
  }
}
