import type { Kind } from '../../../../domain/entry/kind'
import type { Scope } from '../../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../../domain/pace'
import { compareText, unstorable } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { Directory } from '../../../../ports/directory'
import type { SqlConnection } from '../../core/connection'
import type { ReadContext } from '../../tables/entries/read-statements'
import { readRows, toEntry } from '../../tables/entries/rows'
import {
  inFlightStatement,
  newestDecisionsStatement,
  projectCountsStatement,
  projectNamesStatement,
  tailStatement,
  tailTotalStatement,
  threadNamesStatement,
  threadPageStatement,
} from '../../tables/identity/directory-statements'

/** Nothing here is filtered by metadata. */
const NO_FIELDS: ReadonlySet<string> = new Set()

/** Names of threads and projects over any SQL connection. */
export function createSqlDirectory(connection: SqlConnection, clock: Clock, pace: Pace = WITHOUT_REST): Directory {
  const { dialect } = connection
  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields: NO_FIELDS })

  return {
    async threads(scope, after, limit) {
      const [rows = []] = await connection.batch([threadPageStatement(reading(scope), after, limit)])
      return rows.map((row) => ({
        threadId: row.thread_id as string,
        lastSecond: Number(row.last_second),
        lastId: Number(row.last_id),
        entries: Number(row.entries),
      }))
    },

    async threadsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      if (prefix === '') return (await this.threads(scope, null, limit)).map(({ threadId }) => threadId)
      const [rows = []] = await connection.batch([threadNamesStatement(reading(scope), prefix, limit)])
      return rows.map((row) => row.thread_id as string)
    },

    async projectsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      const [rows = []] = await connection.batch([projectNamesStatement(reading(scope), prefix)])
      return rows
        .map((row) => ({
          name: row.project as string,
          used: Math.max(Number(row.used_1), Number(row.used_2), Number(row.used_3)),
        }))
        .filter(({ used }) => used > 0)
        .toSorted((a, b) => b.used - a.used || compareText(a.name, b.name))
        .slice(0, limit)
        .map(({ name }) => name)
    },

    async tail(scope, threadId, limit, maxBytes) {
      const context = reading(scope)
      const [rows = [], totals] = await connection.batch([
        tailStatement(context, threadId, limit, maxBytes),
        tailTotalStatement(context, threadId),
      ])
      return {
        entries: await readRows(
          rows.filter(({ id }) => id !== null),
          pace,
          toEntry,
        ),
        omitted: rows.filter(({ id }) => id === null).map(({ wanted_id: id }) => Number(id)),
        total: Number(totals?.[0]?.total ?? 0),
      }
    },

    async project(scope, project, request) {
      const context = reading(scope)
      const [counts = [], decisions = [], inFlight = []] = await connection.batch([
        projectCountsStatement(context, project),
        newestDecisionsStatement(context, project, request),
        inFlightStatement(context, project, request),
      ])
      if (counts.length === 0) return null
      return {
        counts: counts
          .map((row) => ({ kind: row.kind as Kind, count: Number(row.count) }))
          .toSorted((a, b) => b.count - a.count || compareText(a.kind, b.kind)),
        decisions: decisions.map(toEntry),
        inFlight: inFlight.map(toEntry),
      }
    },
  }
}
