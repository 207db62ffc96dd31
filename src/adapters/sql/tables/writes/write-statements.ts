import { type SQL, sql } from 'drizzle-orm'
import { type Generated, type GenerationTopic, readerOf } from '../../../../domain/entry/entry'
import type { EntryChange, NewEntry } from '../../../../domain/entry/entry-write'
import type { Metadata } from '../../../../domain/entry/metadata'
import { jsonText } from '../../../../domain/json/write'
import type { IndexedText } from '../../../../domain/search/indexed-text'
import { utf8Length } from '../../../../domain/text'
import { addressesAgent, addressesIn } from '../../../../domain/trust/agent-directed'
import { TRUE } from '../../core/compile-filter'
import { changeable } from '../../core/visibility'
import { digestLinks } from '../changes/life-statements'
import { repeatedTurn } from '../entries/repeated-turn'
import { linkColumn } from '../links/metadata-links'
import { relatedStatements } from '../links/related-links'
import { putBeside } from '../texts/long-texts'
import { keepMarks } from '../texts/text-marks'
import { queueIndexing } from '../vectors/index-writer'
import { insertVectors } from '../vectors/insert-vectors'

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
  tagColumns,
  textColumns,
  type WriteContext,
  writerColumns,
} from './entry-columns'

/** The statements that write entries. */

const metadataBytes = (metadata: Metadata | null): number => (metadata === null ? 0 : utf8Length(jsonText(metadata)))

/** Beyond every version that an entry can have. */
const ANY_VERSION = 2 ** 31 - 1

/**
 * One upsert and its index row: either a new entry, or, with `dedupe`, the next version of the turn it repeats.
 *
 * @param analysis of its text; null when words and vectors are written behind the commit
 * @param before how many entries of the batch have been written after this one when its other statements run
 * @param isGuarded whether `reservedKeysGuards` checks the entry
 * @param repeatedLater whether a later entry of the batch has the same thread, source and text
 */
export function saveStatements(
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
  // A repeated turn keeps its vectors, unless it has a title: they are of the title that it had.
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
          // Where databases group statements of several entries, both would insert vectors of the same row.
          ...(isRetitled && repeatedLater ? queueIndexing(['embed'], written(1), now) : []),
          ...(entry.generated.vectors && !(isRetitled && repeatedLater)
            ? insertVectors(dialect, entry.generated.vectors, written(isRetitled ? ANY_VERSION : 1))
            : []),
          ...queuedStatements(context, entry.generated.queued, written(1)),
        ]
      : [...queueIndexing(['index'], worded, now), ...laterStatements(context, entry.generated, written(1))]),
    ...putBeside(entry.text, entry.textHash, written(1), context.sent),
    ...keepMarks(entry.text, entry.textHash, written(1)),
    ...relatedStatements(context, entry.related ?? [], written(ANY_VERSION)),
    ...digestLinks(context, entry.digestOf ?? [], written(ANY_VERSION)),
  ]
}

/** Vectors of the entry that `row` names, and rows of work for what is still to be made. */
const madeStatements = (context: WriteContext, generated: Generated, row: SQL): SQL[] => [
  ...(generated.vectors ? insertVectors(context.dialect, generated.vectors, row) : []),
  ...queuedStatements(context, generated.queued, row),
]

/** The same where vectors are written behind the commit. */
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

/** The same state without a text that the one before it has too, which needs not be sent again. */
const following = (state: EntryChange, before: EntryChange | undefined): EntryChange => {
  const { text, ...rest } = state
  return text !== undefined && text.hash === before?.text?.hash ? rest : state
}

/** The row of an entry in its next state, with its long text beside it. */
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
    ...approvalColumns(scope, sql`version + ${steps}`, addresses),
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
    ...(text ? [...putBeside(text.text, text.hash, row, context.sent), ...keepMarks(text.text, text.hash, row)] : []),
  ]
}

/**
 * The update of one entry and, where its words are affected, its index row.
 *
 * @param analysis of the text after the change; null when the index is unaffected, or written behind the commit
 * @param later whether words and vectors are written behind the commit
 * @param keeps whether the states that the change leads through are kept; each is written then, so that history has no gap
 */
export function changeStatements(
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
  // Old vectors stay until the new ones come; old words may say what is not to be found any more.
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

/** Refuses the batch unless every row is the caller's to change, at the version that was read. */
export function versionGuard({ dialect, scope, now }: WriteContext, changes: readonly EntryChange[]): SQL {
  const expected = JSON.stringify(changes.map(({ id, version }) => [id, version]))
  return sql`INSERT INTO guards (holds) SELECT (SELECT count(*)
    FROM ${dialect.jsonTable(sql`${expected}`, { id: 'integer', version: 'integer' })} expected
      ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
    WHERE e.version = expected.version AND ${changeable(dialect, scope, now)}) = ${changes.length}`
}
