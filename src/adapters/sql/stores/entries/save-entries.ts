// Saves entries and their changes in one batch. The statements run entry by entry, or step by step, depending on the dialect.

import { type SQL, sql } from 'drizzle-orm'
import { type Generated, type GenerationTopic, readerOf } from '../../../../domain/entry/entry'
import { type EntryChange, type NewEntry, statesOf } from '../../../../domain/entry/entry-write'
import type { Metadata } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/version'
import type { Caller } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import { DuplicateConflict } from '../../../../domain/recall/duplicates'
import { scheduler } from '../../../../domain/scheduler'
import type { Analyzer } from '../../../../domain/search/analysis'
import { type IndexedText, indexText, type WrittenText } from '../../../../domain/search/indexed-text'
import { utf8Length } from '../../../../domain/text'
import { addressesAgent, addressesIn } from '../../../../domain/trust/agent-directed'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { Batch, type Handle } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { firstRow, jsonOrNull, num, onlyRow } from '../../core/rows'
import { changeable } from '../../core/visibility'
import { indexedAfterCommit } from '../../core/write-budget'
import { auditStatement } from '../../tables/changes/audit-statements'
import { capturedGuards, replaceStatements } from '../../tables/changes/captured-sources'
import { digestLinks, storeSideEffects, toEvicted } from '../../tables/changes/eviction'
import { recordShown, recordSummarized, toBatchOutput, type Write } from '../../tables/changes/publish-changes'
import { maxBytesOf, type VersionSize } from '../../tables/changes/quota'
import { countedLater } from '../../tables/counts/visible-counts'
import {
  areFirstInThread,
  repeatedTurn,
  repeatedTurnStatement,
  reservedKeysGuards,
} from '../../tables/entries/repeated-turn'
import { linkColumn, relatedGuards, relatedStatements } from '../../tables/links/links'
import { duplicateStatements, EQUAL } from '../../tables/memories/duplicates'
import { imageGuard } from '../../tables/outbox/image-use'
import { storeLineIndex, storeLongText } from '../../tables/texts/long-texts'
import { createTextStaging } from '../../tables/texts/staged-texts'
import { createIndexWriter, insertVectors, queueIndexing } from '../../tables/vectors/index-writer'
import {
  type Assignments,
  approvalColumns,
  archivedAfter,
  assignments,
  flag,
  imageColumns,
  lifeColumns,
  list,
  metadataColumns,
  names,
  retainedApproval,
  tagColumns,
  textColumns,
  type WriteContext,
  writerColumns,
} from '../../tables/writes/entry-columns'

/**
 * Orders the statements of all parts, of which each first one returns a row: all first statements, then all second ones and so on, if equal
 * statements cost less in sequence; otherwise part by part.
 */
function arrange<T>(
  { likeTogether }: Pick<SqlDialect, 'likeTogether'>,
  parts: readonly (readonly SQL[])[],
  decode: (row: Row) => T,
): { readonly batch: Batch; readonly firsts: readonly Handle<T>[] } {
  const batch = new Batch()
  const firsts: Handle<T>[] = []
  for (const [first, ...others] of parts) {
    if (first === undefined) throw new Error('a part without statements')
    firsts.push(batch.add(first, onlyRow(decode)))
    if (!likeTogether) batch.do(others)
  }
  const steps = likeTogether ? Math.max(0, ...parts.map(({ length }) => length)) : 0
  for (let step = 1; step < steps; step++) batch.do(parts.flatMap((part) => part[step] ?? []))
  return { batch, firsts }
}

/** The statements that write entries. */

const metadataBytes = (metadata: Metadata | null): number => (metadata === null ? 0 : utf8Length(jsonText(metadata)))

/** Above every version that an entry can have. */
const ANY_VERSION = 2 ** 31 - 1

/**
 * Returns one upsert and its index row: a new entry or, with `dedupe`, the next version of the turn that it repeats.
 *
 * @param analysis of its text; null when words and vectors are written after the commit
 * @param before number of entries of the batch that are written after this one before its other statements run
 * @param isGuarded whether `reservedKeysGuards` checks the entry
 * @param repeatedLater whether a later entry of the batch has the same thread, source and text
 */
function saveStatements(
  context: WriteContext,
  entry: NewEntry,
  analysis: IndexedText | null,
  {
    before,
    dedupe,
    isGuarded,
    repeatedLater,
  }: {
    readonly before: number
    readonly dedupe: boolean
    readonly isGuarded: boolean
    readonly repeatedLater: boolean
  },
): SQL[] {
  const { dialect, scope, now } = context
  const metadata = metadataColumns(context, entry, null)
  const again = dedupe ? repeatedTurn(context, entry, isGuarded) : null
  const metadataSize = metadataBytes(entry.metadata)
  const inserted: Assignments = {
    org: sql`${scope.org}`,
    thread_id: sql`${entry.threadId}`,
    source: sql`${entry.source}`,
    layer: sql`${entry.layer}`,
    given_pinned: sql`${flag(entry.life?.pinned ?? false)}`,
    layer_expires_at: sql`${entry.life?.lasts == null ? null : now + entry.life.lasts}`,
    created_at: sql`${now}`,
    updated_at: sql`${now}`,
    owner: sql`${entry.owner}`,
    created_by: sql`${entry.createdBy}`,
    bytes: sql`${utf8Length(entry.text) + metadataSize}`,
    ...metadata,
    archived: sql`${flag(entry.lifted.captured)}`,
    ...tagColumns(entry.tags ?? []),
    ...imageColumns(entry.images ?? []),
    ...textColumns(entry.text, entry.textHash, analysis?.words ?? 0, entry.lifted.title),
    summary: sql`${entry.generated.summary}`,
    ...writerColumns(scope, entry.lifted.agent),
  }
  const addresses = inserted.addresses_agent as SQL
  Object.assign(inserted, approvalColumns(scope, sql`1`, addresses))
  const replaced = [
    'updated_at',
    'changed_by',
    'changed_agent',
    'restored',
    ...(entry.metadata === null
      ? []
      : ['bytes', ...Object.keys(metadata).filter((name) => name !== 'links' && name !== 'metadata')]),
    ...(entry.tags === null ? [] : ['tags', 'tag_kind']),
    ...(entry.images === null ? [] : ['images', 'image_count']),
  ].map((name) => sql.raw(`${name} = excluded.${name}`))
  if (entry.metadata !== null)
    replaced.push(
      sql`metadata = ${again === null ? sql`excluded.metadata` : dialect.asWritten(again, () => sql`${jsonText(entry.metadata)}`)}`,
      sql`links = ${dedupe && entry.links.length > 0 ? linkColumn(context, entry.links, sql`entries.id`) : sql`excluded.links`}`,
    )
  for (const [name, value] of Object.entries(approvalColumns(scope, sql`entries.version + 1`, addresses)))
    replaced.push(sql`${sql.raw(name)} = ${value}`)
  const upsert = sql`INSERT INTO entries (id, ${names(inserted)})
    SELECT ${dialect.entryId(again ?? sql`NULL`)}, ${list(Object.values(inserted))}
    WHERE ${TRUE}
    ON CONFLICT (id) DO UPDATE SET version = entries.version + 1, ${list(replaced)}
    RETURNING id, version, CASE WHEN summary = '' THEN 0 ELSE 1 END AS summarized`
  const indexed = {
    text: entry.text,
    layer: entry.layer,
    metadata: entry.metadata,
    threadId: entry.threadId,
    title: entry.lifted.title,
    project: entry.lifted.project,
    agent: entry.lifted.agent,
    reader: readerOf(entry.lifted, entry),
    captured: entry.lifted.captured,
  }
  const written = (upToVersion: number) => sql`e.id = ${dialect.lastWritten(scope.org, { before, upToVersion })}`
  const worded = written(entry.metadata === null ? 1 : ANY_VERSION)
  // A repeated turn keeps its vectors, unless it has a title, which is embedded too.
  const isRetitled = dedupe && entry.lifted.title !== null && entry.generated.vectors !== null
  const repeated = sql`${written(ANY_VERSION)} AND e.version > 1`
  return [
    upsert,
    ...(analysis
      ? [
          dialect.indexEntry({ org: scope.org, content: indexed, indexed: analysis }, worded),
          ...(isRetitled && !repeatedLater
            ? [sql`DELETE FROM entry_vectors WHERE entry_id = (SELECT e.id FROM entries e WHERE ${repeated})`]
            : []),
          // If statements of several entries are grouped, both would insert vectors of the same row.
          ...(isRetitled && repeatedLater ? queueIndexing(['embed'], written(1), now) : []),
          ...(entry.generated.vectors && !(isRetitled && repeatedLater)
            ? insertVectors(dialect, entry.generated.vectors, written(isRetitled ? ANY_VERSION : 1))
            : []),
          ...queuedStatements(context, entry.generated.queued, written(1)),
        ]
      : [...queueIndexing(['index'], worded, now), ...laterStatements(context, entry.generated, written(1))]),
    ...storeLongText(entry.text, entry.textHash, written(1), context.sent),
    ...storeLineIndex(entry.text, entry.textHash, written(1)),
    ...relatedStatements(context, entry.related ?? [], written(ANY_VERSION)),
    ...digestLinks(context, entry.digestOf ?? [], written(ANY_VERSION)),
  ]
}

/** Returns the vectors of the entry that `row` selects, and outbox rows for pending work. */
const madeStatements = (context: WriteContext, generated: Generated, row: SQL): SQL[] => [
  ...(generated.vectors ? insertVectors(context.dialect, generated.vectors, row) : []),
  ...queuedStatements(context, generated.queued, row),
]

/** Returns outbox rows for an entry whose vectors are written after the commit. */
const laterStatements = (context: WriteContext, generated: Generated, row: SQL): SQL[] => [
  ...(generated.vectors ? queueIndexing(['embed'], row, context.now) : []),
  ...queuedStatements(context, generated.queued, row),
]

const queuedStatements = ({ now }: WriteContext, topics: readonly GenerationTopic[], row: SQL): SQL[] =>
  topics.map(
    (topic) =>
      sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
        SELECT e.org, ${topic}, CAST(e.id AS TEXT), ${now}, ${now} FROM entries e WHERE ${row}
        ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
  )

/** Returns the version without its text if the previous one has the same, so that it is sent once. */
const following = (state: EntryChange, before: EntryChange | undefined): EntryChange => {
  const { text, ...rest } = state
  return text !== undefined && text.hash === before?.text?.hash ? rest : state
}

/** Returns the statements for the next version of an entry, including its long text. */
function stateStatements(context: WriteContext, change: EntryChange, words: number, steps: number): [SQL, ...SQL[]] {
  const { dialect, scope, now } = context
  const { text, metadata, tags, images, generated, life } = change
  const title = metadata?.lifted.title ?? change.indexed?.title ?? null
  const doesTitle = title !== null && addressesIn(title).length > 0
  const addresses = text
    ? sql`${flag(addressesAgent({ text: text.text, title }))}`
    : doesTitle
      ? sql`1`
      : sql`addresses_agent`
  const columns: Assignments = {
    version: sql`version + ${steps}`,
    updated_at: sql`${now}`,
    ...writerColumns(scope, change.by),
    ...(change.keepsApproval ? retainedApproval(steps) : approvalColumns(scope, sql`version + ${steps}`, addresses)),
    ...(life ? lifeColumns(life, now) : {}),
    ...(text ? textColumns(text.text, text.hash, words, title) : {}),
    ...(metadata ? metadataColumns(context, { ...metadata, metadata: metadata.value }, sql`${change.id}`) : {}),
    addresses_agent: addresses,
    ...(metadata ? { archived: archivedAfter(metadata.lifted, life !== undefined) } : {}),
    ...(tags ? tagColumns(tags) : {}),
    ...(images ? imageColumns(images) : {}),
    ...(generated ? { summary: sql`${generated.summary}` } : {}),
  }
  if (text || metadata) {
    const known = (text ? utf8Length(text.text) : 0) + (metadata ? metadataBytes(metadata.value) : 0)
    const was = sql`coalesce(${dialect.byteLength(sql`metadata`)}, 0)`
    columns.bytes = text ? (metadata ? sql`${known}` : sql`${was} + ${known}`) : sql`bytes - ${was} + ${known}`
  }
  const row = sql`e.id = ${change.id}`
  return [
    sql`UPDATE entries SET ${assignments(columns)} WHERE id = ${change.id} AND org = ${scope.org} RETURNING id, version`,
    ...(text
      ? [...storeLongText(text.text, text.hash, row, context.sent), ...storeLineIndex(text.text, text.hash, row)]
      : []),
  ]
}

/**
 * Returns the update of one entry and, if its words change, its index row.
 *
 * @param analysis of the text after the change; null when the index is unaffected, or written after the commit
 * @param later whether words and vectors are written after the commit
 * @param keeps whether versions are retained; then each intermediate one is written, so that history has no gap
 */
function changeStatements(
  context: WriteContext,
  change: EntryChange,
  analysis: IndexedText | null,
  { later, keeps }: { readonly later: boolean; readonly keeps: boolean },
): SQL[] {
  const { dialect, scope, now } = context
  const { indexed, generated, between = [] } = change
  const [update, ...beside] = stateStatements(context, change, analysis?.words ?? 0, keeps ? 1 : change.steps)
  const row = sql`e.id = ${change.id}`
  const before = keeps
    ? between.flatMap((state, i) => stateStatements(context, following(state, between[i - 1]), 0, 1))
    : []
  // Old vectors stay until new ones replace them. Old words are removed, since the text may not contain them any more.
  if (later)
    return [
      ...before,
      update,
      dialect.unindexEntry(change.id),
      ...queueIndexing(['index'], row, now),
      ...beside,
      ...(generated ? laterStatements(context, generated, row) : []),
    ]
  return [
    ...before,
    update,
    ...(indexed && analysis ? [dialect.indexEntry({ org: scope.org, content: indexed, indexed: analysis }, row)] : []),
    ...beside,
    ...(generated
      ? [sql`DELETE FROM entry_vectors WHERE entry_id = ${change.id}`, ...madeStatements(context, generated, row)]
      : []),
  ]
}

/** Returns a precondition that the caller may change every row, and each has the version that was read. */
export function versionGuard({ dialect, scope, now }: WriteContext, changes: readonly EntryChange[]): SQL {
  const expected = JSON.stringify(changes.map(({ id, version }) => [id, version]))
  return sql`INSERT INTO guards (holds) SELECT (SELECT count(*)
    FROM ${dialect.jsonTable(sql`${expected}`, { id: 'integer', version: 'integer' })} expected
      ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
    WHERE e.version = expected.version AND ${changeable(dialect, scope, now)}) = ${changes.length}`
}

const CHANGED = 'The entry was changed by someone else at the same time; try again'
const LOST = 'An entry or image that this call refers to is being changed by another call; try again'

const toSaved = (row: Row) => ({
  id: num(row, 'id'),
  version: num(row, 'version'),
  summarized: Boolean(row.summarized),
})

const turnOf = ({ threadId, source, textHash }: NewEntry): string => JSON.stringify([threadId, source, textHash])

/** Returns whether entries may repeat each other within the call. */
const repeats = (entries: readonly NewEntry[]): boolean =>
  new Set(entries.map(({ threadId, textHash }) => JSON.stringify([threadId, textHash]))).size < entries.length

/** Dependencies of `save` and `change`. */
interface Writing {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: Clock
  readonly terms: HistoryTerms
  /** Runs a write within the limits of the organization. */
  readonly writeWithin: Write
}

/** Creates the entry store's `save` and `change`, which write complete texts and their words. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSave({
  connection,
  analyzer,
  clock,
  terms,
  writeWithin,
}: Writing): Pick<EntryStore, 'save' | 'repeated' | 'change'> {
  const { dialect } = connection
  const sendAhead = createTextStaging(connection, clock)
  const indexWriter = createIndexWriter(connection, analyzer)

  /** Runs `writeWithin`. @throws DuplicateChanged; Problem conflict when another precondition failed */
  const write = async (caller: Caller, own: Parameters<Write>[1], conflict: string, states: readonly VersionSize[]) =>
    writeWithin(caller, own, { takes: () => maxBytesOf(states) }).catch((error: unknown) => {
      if (!(error instanceof PreconditionFailed)) throw error
      throw error.premise === EQUAL ? new DuplicateConflict() : new Problem('conflict', conflict)
    })

  const writing = (caller: Caller) => ({ dialect, scope: caller, now: clock.now() })
  /** Analyzes each text before anything is written; null for a missing text. */
  async function analyse(written: readonly (WrittenText | null)[]): Promise<(IndexedText | null)[]> {
    const analyses: (IndexedText | null)[] = []
    for (const one of written) analyses.push(one === null ? null : await scheduler.run(indexText(analyzer, one)))
    return analyses
  }

  /** Returns the statements of each part; yields in between, because creating them reads complete texts. */
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
      const later = indexedAfterCommit(entries.map(({ text }) => text.length))
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
      const beside = storeSideEffects(context, entries, duplicateStatements(context, meeting, entries))
      const counting = countedLater(dialect, caller.org, dedupe && repeats(entries) ? 0 : entries.length)
      const batch = new Batch(...capturedGuards(context, replaces), ...beside.before, ...counting.before)
        // Before the entries are written, so that none can link to the ID that it is about to get.
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
      // For a repeated turn, report whether it has a summary.
      const own = (since: SQL) =>
        new Batch().join(batch).do(dedupe && caller.receipt ? [recordSummarized(dialect, caller.org, since)] : [])
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
      const later = indexedAfterCommit(changes.map(({ indexed }) => (indexed ? (indexed.text?.length ?? Infinity) : 0)))
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
      // Readers of the feed see the versions of an entry in order.
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
        ? batch.add(recordShown(dialect, caller.org, changes[0]?.id ?? 0), onlyRow(toBatchOutput))
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
