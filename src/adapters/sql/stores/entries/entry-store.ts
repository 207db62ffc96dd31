import { type SQL, sql } from 'drizzle-orm'
import type { EntryPreview } from '../../../../domain/entry/entry'
import { checkMetadataSize, MAX_METADATA_BYTES } from '../../../../domain/entry/metadata'
import { DeleteRefused, type DeleteSelection, type Erased } from '../../../../domain/entry/selection'
import { limitExceeded, Problem } from '../../../../domain/errors'
import { type HistoryTerms, NO_HISTORY } from '../../../../domain/history/version'
import { MOST_DELETED } from '../../../../domain/identity/audit'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { Analyzer } from '../../../../domain/search/analysis'
import type { Filter } from '../../../../domain/search/filter'
import { PAGE_METADATA_BYTES } from '../../../../domain/search/window'
import type { ThreadSummary } from '../../../../domain/statistics'
import type { Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore, ThreadWindow } from '../../../../ports/entry-store'
import { Batch, readOne, runOne } from '../../core/batch'
import { FALSE, TRUE } from '../../core/compile-filter'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { IndexedFields } from '../../core/dialect'
import {
  asRows,
  countOf,
  each,
  firstRow,
  flag,
  howMany,
  inOneValue,
  json,
  num,
  numbersOf,
  onlyRow,
  rowsOfValue,
  str,
  strOrNull,
  textsOf,
} from '../../core/rows'
import { changeable, listedToChange, visible } from '../../core/visibility'
import { WRITE_BUDGET } from '../../core/write-budget'
import { auditDeleteStatement, auditOneStatement } from '../../tables/changes/audit-statements'
import { capturedGuards } from '../../tables/changes/captured-sources'
import {
  BEFORE_ALL,
  deletedBefore,
  entriesOf,
  erasable,
  erasableOf,
  erasedNow,
  type Meant,
} from '../../tables/changes/erase-selection'
import { createUnfinishedDeletes, pendingDeletion, soleDeletion } from '../../tables/changes/pending-deletion'
import { createWrite, recordOutput, toBatchOutput, type Write } from '../../tables/changes/publish-changes'
import { maxBytesOf } from '../../tables/changes/quota'
import {
  type Groups,
  groupsStatement,
  nameCount,
  readStatistics,
  toGroups,
} from '../../tables/counts/statistics-statements'
import { ENTRY_COLUMNS, isVersion, readRows, readWithin, toEntry, toThread } from '../../tables/entries/entry-rows'
import {
  entriesById,
  liveThreads,
  previewsStatement,
  type ReadContext,
  textRangesStatement,
  toChangeStatement,
  withinStatement,
} from '../../tables/entries/read-statements'
import { preconditionProblem } from '../../tables/links/links'
import { imageTypeStatement, tombstonesStatement } from '../../tables/outbox/image-use'
import { readPage } from '../../tables/pages/page-statements'
import { textOf } from '../../tables/texts/long-texts'
import { approvalColumns, assignments, writerColumns } from '../../tables/writes/entry-columns'
import { createSave } from './save-entries'

const toPreview = (row: Row): EntryPreview => ({
  ...{ ...toEntry(row), preview: true, chars: num(row, 'chars') },
  ...(row.bare ? { bare: true } : {}),
})

/**
 * Reads the previews of rows, in their order. Unusually large metadata, images, tags and summaries are read by a second round trip, up to
 * the size limit of a page.
 */
async function previewsOf(
  connection: SqlConnection,
  context: ReadContext,
  rows: readonly Row[],
  { filter, previewLength }: { readonly filter: Filter; readonly previewLength: number },
): Promise<EntryPreview[]> {
  const large: number[] = []
  let before = 0
  for (const row of rows) {
    before += num(row, 'beside')
    if (row.bare && (before <= PAGE_METADATA_BYTES || before === num(row, 'beside'))) large.push(num(row, 'id'))
  }
  if (large.length === 0) return readRows(rows, toPreview)
  const found = await readOne(
    connection,
    previewsStatement(context, filter, large, { previewLength, whole: true }),
    asRows,
  )
  const whole = new Map(found.map((row) => [num(row, 'id'), row]))
  const asked = new Set(large)
  // Entries deleted meanwhile are left out.
  const shown = rows.flatMap((row): Row | readonly Row[] =>
    asked.has(num(row, 'id')) ? (whole.get(num(row, 'id')) ?? []) : row,
  )
  return readRows(shown, toPreview)
}

const THREAD_ORDERS = {
  last: sql`last_second DESC, last_id DESC`,
  entries: sql`entries DESC, last_id DESC`,
  name: sql`thread_id, last_id DESC`,
} as const

/** Returns threads, and only those whose names contain a text if one is given. */
const threadGroups = (context: ReadContext, { order = 'last', contains = null }: ThreadWindow): Groups => ({
  tables: [liveThreads(context)],
  query: sql`SELECT thread_id, entries, user_entries, multimodal, first_second, last_second, last_id FROM live
    ${contains === null ? sql`` : sql`WHERE replace(thread_id, ${contains}, '') <> thread_id`}`,
  order: THREAD_ORDERS[order],
})

/**
 * Reads a page of threads and their number; needs one more round trip for the number if the page is after the last thread.
 */
async function threadPage(
  connection: SqlConnection,
  context: ReadContext,
  window: ThreadWindow,
): Promise<{ threads: readonly ThreadSummary[]; total: number }> {
  const groups = threadGroups(context, window)
  const { limit, offset } = window
  const { first, count } = await readOne(connection, groupsStatement(groups, limit, offset), toGroups(toThread))
  const isBehind = first.length === 0 && offset > 0
  return { threads: first, total: isBehind ? await readOne(connection, groupsStatement(groups, 1), nameCount) : count }
}

/** Maximum number of IDs in a dry run. */
const SHOWN = 100

interface Selected {
  /** A condition on `entries`. */
  readonly where: SQL
  readonly guards: readonly SQL[]
}

const NOTHING: Erased = { count: 0, archived: 0, before: 0, left: 0 }

/**
 * Throws the problem of a refused delete. @throws DeleteRefused for a failed precondition; otherwise the given error
 */
function refused(error: unknown): never {
  throw error instanceof PreconditionFailed ? new DeleteRefused() : error
}

/** Returns the number of deleted entries that the audit row states. */
const toDeleted = (row: Row): number => json<{ deleted: number }>(row, 'detail').deleted

/** Deletes entries: one attempt for each call. The service decides what to do after a refusal. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
function createDelete(
  connection: SqlConnection,
  write: Write,
  clock: Clock,
): Pick<EntryStore, 'delete' | 'erase' | 'wouldDelete' | 'finishDeletes' | 'current'> {
  const { dialect } = connection
  const { finish } = createUnfinishedDeletes(connection)

  function select(caller: Caller, selection: DeleteSelection, now: Millis, erases: boolean): Selected {
    const { ids, threadIds, source, createdBefore, expectedVersion, mustStand = false, captured = [] } = selection
    const until = (then: number) =>
      ids && sql`${entriesById(dialect, ids)} WHERE ${TRUE} AND ${changeable(dialect, caller, then)}`
    const named = until(now)
    const conditions = [
      // An ID selects that entry, archived or not; other criteria select listed entries.
      named
        ? // Expired entries are erased as well, even if the schedule has not removed their rows yet.
          sql`id ${dialect.plan.oneOf(sql`SELECT e.id FROM ${erases ? until(BEFORE_ALL) : named}`)}`
        : threadIds
          ? sql`id ${dialect.plan.oneOf(
              erases
                ? erasableOf(dialect, caller, threadIds)
                : sql`SELECT e.id FROM ${entriesOf(dialect, caller.org, threadIds)} WHERE ${listedToChange(dialect, caller, now)}`,
            )}`
          : erases
            ? erasable(dialect, caller, 'entries')
            : listedToChange(dialect, caller, now, 'entries'),
      ...(threadIds && ids ? [sql`thread_id ${dialect.inList(sql`${JSON.stringify(threadIds)}`)}`] : []),
      ...(source ? [sql`source = ${source}`] : []),
      ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
    ]
    const asExpected = expectedVersion === undefined ? sql`` : sql` AND ${isVersion(sql`e.version`, expectedVersion)}`
    const standing = sql`EXISTS (SELECT 1 FROM ${named}${asExpected})`
    const guards = [
      ...(named && (expectedVersion !== undefined || mustStand) ? [standing] : []),
      ...(erases ? [sql`NOT EXISTS (${unremoved(caller, selection)})`] : []),
    ].map((holds) => sql`INSERT INTO guards (holds) SELECT ${holds}`)
    return {
      where: sql.join(conditions, sql` AND `),
      guards: [...capturedGuards({ dialect, scope: caller, now }, captured), ...guards],
    }
  }

  /**
   * Returns the calls that have deleted some of these entries and have not removed their rows yet, so that their retained versions do not
   * exist yet.
   */
  const unremoved = ({ org }: Caller, { ids, threadIds = [] }: Meant): SQL => sql`
    SELECT l.change_id FROM pending_deletes l
    WHERE l.org = ${org} AND l.erase_history = 0 AND ${
      ids
        ? sql`l.entry_id IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
        : dialect.plan.exists(sql`
            SELECT 1 FROM entries e
            WHERE e.id = l.entry_id AND ${dialect.plan.filterOnly(sql`e.thread_id ${dialect.inList(sql`${JSON.stringify(threadIds)}`)}`)}`)
    }`

  /**
   * Deletes in the transaction of the call, and removes the rest of a large selection afterwards.
   *
   * @param erases permanently, including entries deleted earlier
   * @returns the number of entries, and what an erasure removed
   */
  async function remove(caller: Caller, selection: DeleteSelection, erases: boolean): Promise<Erased> {
    const now = clock.now()
    const actor = erases ? { ...caller, action: 'erase' } : caller
    const before = erases ? { erases: deletedBefore(dialect, caller, selection) } : {}
    const { where, guards } = select(caller, selection, now, erases)
    const pending =
      selection.ids?.length === 1 && !erases
        ? null
        : pendingDeletion(dialect, caller, where, { now, most: MOST_DELETED, ...before })
    const deletion = pending ?? soleDeletion(where)
    const batch = new Batch(...guards, ...(pending ? [pending.name] : []))
    const deleted = batch.add(auditDeleteStatement(actor, now, dialect, deletion.ids), onlyRow(toDeleted))
    const telling = erases && recordOutput(caller.org, 'erased', erasedNow(dialect, caller, selection))
    const output = telling ? batch.add(telling, onlyRow(toBatchOutput)) : null
    batch.do(deletion.remove)
    const left = pending && batch.add(pending.queue, howMany)
    const result = await write(caller, batch, { forgets: erases, usesReserve: true }).catch(refused)
    // The remaining rows are invisible. If the database does not respond now, the outbox removes them.
    if (left && result.of(left) > 0) await finish(caller.org, caller.changeId).catch(() => {})
    return (output && result.of(output).erased) ?? { ...NOTHING, count: result.of(deleted) }
  }

  return {
    delete: async (caller, selection) => (await remove(caller, selection, false)).count,

    erase: (caller, selection) => remove(caller, selection, true),

    async finishDeletes(caller, meant) {
      const calls = await runOne(connection, unremoved(caller, meant), textsOf('change_id'))
      for (const changeId of new Set(calls)) await finish(caller.org, changeId)
      return calls.length > 0
    },

    async current(caller, id) {
      const statement = sql`SELECT ${ENTRY_COLUMNS}, '' AS text FROM ${entriesById(dialect, [id])}
        WHERE ${TRUE} AND ${changeable(dialect, caller, clock.now())}`
      return runOne(connection, statement, firstRow(toEntry))
    },

    async wouldDelete(caller, selection, erases = false) {
      const now = clock.now()
      const { where, guards } = select(caller, selection, now, erases)
      // Entries that a call has deleted but not removed yet count once their rows are removed.
      const batch = new Batch(...(erases ? guards.slice(0, -1) : guards))
      const standing = batch.add(sql`SELECT count(*) AS n FROM entries WHERE ${where}`, countOf())
      const shown = batch.add(sql`SELECT id FROM entries WHERE ${where} ORDER BY id LIMIT ${SHOWN}`, numbersOf('id'))
      const gone = sql`SELECT id FROM (${deletedBefore(dialect, caller, selection)}) before ORDER BY id`
      const removed = erases ? batch.add(gone, numbersOf('id')) : null
      const result = await batch.run(connection).catch(refused)
      const before = removed === null ? [] : result.of(removed)
      const ids = [...result.of(shown), ...before].sort((a, b) => a - b)
      return { count: result.of(standing) + before.length, ids: ids.slice(0, SHOWN) }
    },
  }
}

const TOO_LARGE = 'metadata would be larger than 256 KB after this patch'
const RESTORED = 'The entry was deleted and restored by another call; try again'

/**
 * Creates the entry store's `patch`. @param write within the limits of the organization; throws PreconditionFailed when a precondition
 * fails
 */
function createPatch(connection: SqlConnection, write: Write, clock: Clock): Pick<EntryStore, 'patch'> {
  const { dialect } = connection
  return {
    async patch(caller, id, patch) {
      const now = clock.now()
      const row = sql`id = ${id} AND ${changeable(dialect, caller, now, 'entries')}`
      const merged = (was: SQL) => dialect.mergePatch(sql`coalesce(${was}, '{}')`, sql`${jsonText(patch)}`)
      const mergedBytes = dialect.byteLength(merged(sql`metadata`))
      const guard = sql`
        INSERT INTO guards (holds)
        SELECT coalesce((SELECT ${mergedBytes} <= ${MAX_METADATA_BYTES} FROM entries WHERE ${row}), ${FALSE})`
      const update = sql`
        UPDATE entries
        SET bytes = bytes - coalesce(${dialect.byteLength(sql`metadata`)}, 0) + ${mergedBytes},
          metadata = ${dialect.asWritten(sql`${id}`, merged)},
          version = version + 1, updated_at = ${now}, ${assignments({
            ...writerColumns(caller),
            ...approvalColumns(caller, sql`version + 1`, sql`addresses_agent`),
          })}
        WHERE ${row} RETURNING version, archived`
      const audit = auditOneStatement(caller, now, id, 'updated', sql`EXISTS (SELECT 1 FROM entries WHERE ${row})`)
      try {
        const batch = new Batch(guard)
        const patched = batch.add(
          update,
          onlyRow((changed) => ({ version: num(changed, 'version'), archived: flag(changed, 'archived') })),
        )
        const takes = () => maxBytesOf([{ metadata: patch }])
        return (await write(caller, batch.do([audit]), { takes })).of(patched)
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error
        const size = sql`SELECT ${mergedBytes} AS bytes FROM entries WHERE ${row}`
        const bytes = await runOne(connection, size, ([found]) => (found === undefined ? null : num(found, 'bytes')))
        if (bytes === null) return null
        checkMetadataSize(patch)
        // If the size fits, the precondition failed because the entry was missing, and it exists again.
        throw bytes > MAX_METADATA_BYTES ? new Problem('limit_exceeded', TOO_LARGE) : new Problem('conflict', RESTORED)
      }
    },
  }
}

/**
 * Maximum bytes of the metadata, tags and images of the entries of one call: parsed, they use several times as much of a Worker's 128 MB.
 */
const MAX_LARGE_BYTES = 8_000_000

/** Creates the entry store over any SQL connection. Databases differ only in the connection's dialect. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlEntryStore(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  indexedFields: IndexedFields,
  quotas: Quotas = NO_QUOTAS,
  terms: HistoryTerms = NO_HISTORY,
): EntryStore {
  const { dialect } = connection
  const writeAll = createWrite(connection, clock, terms)

  /**
   * Runs a write within the limits of the organization. @throws Problem limit_exceeded at a limit, or for a named precondition
   */
  const writeWithin: Write = async (caller, own, options) => {
    try {
      return await writeAll(caller, own, { quotas, ...options })
    } catch (error) {
      throw (error instanceof PreconditionFailed ? preconditionProblem(error.premise) : null) ?? error
    }
  }

  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields })

  const previews: EntryStore['previews'] = async (scope, filter, ids, previewLength) => {
    if (ids.length === 0) return []
    const context = reading(scope)
    const statement = previewsStatement(context, filter, ids, { previewLength })
    const rows = await readOne(connection, inOneValue(dialect, statement), rowsOfValue)
    const places = new Map(ids.map((id, place) => [id, place]))
    const inOrder = rows.toSorted((a, b) => (places.get(Number(a.id)) ?? 0) - (places.get(Number(b.id)) ?? 0))
    return previewsOf(connection, context, inOrder, { filter, previewLength })
  }

  return {
    async read(scope, ids) {
      if (ids.length === 0) return []
      const rows = await readOne(
        connection,
        sql`SELECT ${ENTRY_COLUMNS}, ${textOf()} AS text FROM ${entriesById(dialect, ids)} WHERE ${visible(dialect, scope, clock.now())}`,
        asRows,
      )
      return readRows(rows ?? [], toEntry)
    },

    async readToChange(scope, ids) {
      if (ids.length === 0) return []
      const most = { text: WRITE_BUDGET, metadata: MAX_LARGE_BYTES }
      const rows = await runOne(connection, toChangeStatement(reading(scope), [...ids], most), asRows)
      if (rows.some(({ bare }) => Boolean(bare)))
        throw limitExceeded(
          `The metadata, tags and images of these entries are more than ${MAX_LARGE_BYTES} bytes; update them in several calls`,
        )
      return readRows(rows, (row) => ({
        ...toEntry(row),
        text: strOrNull(row, 'text'),
      }))
    },

    async readWithin(scope, ids, maxBytes) {
      if (ids.length === 0) return { entries: [], omitted: [] }
      const rows = await readOne(
        connection,
        withinStatement({ dialect, scope, now: clock.now() }, [...new Set(ids)], maxBytes),
        asRows,
      )
      return readWithin(rows)
    },

    async page(scope, filter, request) {
      const context = reading(scope)
      const { page, total, isExact } = await readPage(connection, context, filter, request)
      const { previewLength } = request
      if (total === null && dialect.bounded !== null) {
        const found = await dialect.bounded.page((...asked) => readOne(connection, ...asked), context, filter, request)
        const entries = await previews(scope, filter, found.ids, previewLength)
        return { entries, total: found.total, ...(found.isExact ? {} : { totalIsExact: false }) }
      }
      return {
        entries: await previewsOf(connection, context, page, { filter, previewLength }),
        total: total ?? 0,
        ...(isExact ? {} : { totalIsExact: false }),
      }
    },

    previews,

    async textRanges(scope, filter, wanted) {
      if (wanted.length === 0) return []
      return readOne(
        connection,
        textRangesStatement(reading(scope), filter, wanted),
        each((row) => ({ id: num(row, 'id'), text: str(row, 'text') })),
      )
    },

    async imageRemovals(caller, hashes) {
      return runOne(connection, tombstonesStatement(dialect, caller.org, hashes), numbersOf('id'))
    },

    ...createSave({ connection, analyzer, clock, terms, writeWithin }),

    ...createPatch(connection, writeWithin, clock),

    ...createDelete(connection, writeAll, clock),

    threads: async (scope, window) => threadPage(connection, reading(scope), window),

    statistics: async (scope) => readStatistics(connection, reading(scope)),

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
