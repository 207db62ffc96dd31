import { sql } from 'drizzle-orm'
import { limitExceeded } from '../../../../domain/errors'
import { type HistoryTerms, NO_HISTORY } from '../../../../domain/history/terms'
import type { Scope } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { Analyzer } from '../../../../domain/search/analysis'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { Batch, readOne, runOne } from '../../core/batch'
import { PremiseFailed, type SqlConnection } from '../../core/connection'
import type { IndexedFields } from '../../core/dialect'
import { asRows, each, firstRow, num, numbersOf, str, strOrNull } from '../../core/rows'
import { visible } from '../../core/visibility'
import { WRITE_SHARE } from '../../core/write-share'
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
import { premiseProblem } from '../../tables/links/related-links'
import { imageTypeStatement, marksStatement } from '../../tables/outbox/image-use'
import { readPage } from '../../tables/pages/page-statements'
import { threadPage } from '../../tables/pages/thread-page'
import { textOf } from '../../tables/texts/long-texts'
import { createDelete } from './delete-entries'
import { createPatch } from './patch'
import { createSave } from './save-entries'

/** Metadata, tags and images of entries that one call changes: parsed, they take several times as much of a Worker's 128 MB. */
const MOST_BESIDE = 8_000_000

/** The entry store over any SQL connection; what differs between databases is in the connection's dialect. */
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

  /** As `writeAll`, within the limits of the org. @throws Problem limit_exceeded when it would pass one, or for a premise with a name */
  const writeWithin: Write = async (caller, own, options) => {
    try {
      return await writeAll(caller, own, { quotas, ...options })
    } catch (error) {
      throw (error instanceof PremiseFailed ? premiseProblem(error.premise) : null) ?? error
    }
  }

  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields })

  const previews: EntryStore['previews'] = async (scope, filter, ids, previewLength) => {
    if (ids.length === 0) return []
    const context = reading(scope)
    const rows = await readOne(connection, previewsStatement(context, filter, ids, { previewLength }), asRows)
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
      const most = { text: WRITE_SHARE, metadata: MOST_BESIDE }
      const rows = await runOne(connection, toChangeStatement(reading(scope), [...ids], most), asRows)
      if (rows.some(({ bare }) => Boolean(bare)))
        throw limitExceeded(
          `The metadata, tags and images of these entries are more than ${MOST_BESIDE} bytes; update them in several calls`,
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

    async stretches(scope, filter, wanted) {
      if (wanted.length === 0) return []
      return readOne(
        connection,
        stretchesStatement(reading(scope), filter, wanted),
        each((row) => ({ id: num(row, 'id'), text: str(row, 'text') })),
      )
    },

    async imageRemovals(caller, hashes) {
      return runOne(connection, marksStatement(dialect, caller.org, hashes), numbersOf('id'))
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
