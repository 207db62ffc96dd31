import type { Scope } from '../../../../domain/identity/scope'
import { compareText, unstorable } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { Directory } from '../../../../ports/directory'
import { Batch, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { IndexedFields } from '../../core/dialect'
import { asRows, countOf, each, num, str, textsOf } from '../../core/rows'
import type { ReadContext } from '../../tables/entries/read-statements'
import { kindOf, readWithin, toEntry } from '../../tables/entries/rows'
import {
  tailStatement,
  tailTotalStatement,
  threadNamesStatement,
  threadPageStatement,
} from '../../tables/identity/directory-statements'
import {
  inFlightStatement,
  newestDecisionsStatement,
  projectCountsStatement,
  projectNamesStatement,
} from '../../tables/identity/project-statements'

/** Nothing here is filtered by metadata. */
const NO_FIELDS: IndexedFields = new Map()

/** Names of threads and projects over any SQL connection. */
export function createSqlDirectory(connection: SqlConnection, clock: Clock): Directory {
  const { dialect } = connection
  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields: NO_FIELDS })

  return {
    async threads(scope, after, limit) {
      return runOne(
        connection,
        threadPageStatement(reading(scope), after, limit),
        each((row) => ({
          threadId: str(row, 'thread_id'),
          lastSecond: num(row, 'last_second'),
          lastId: num(row, 'last_id'),
          entries: num(row, 'entries'),
        })),
      )
    },

    async threadsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      if (prefix === '') return (await this.threads(scope, null, limit)).map(({ threadId }) => threadId)
      return runOne(connection, threadNamesStatement(reading(scope), prefix, limit), textsOf('thread_id'))
    },

    async projectsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      const named = each((row) => ({
        name: str(row, 'project'),
        used: Math.max(num(row, 'used_1'), num(row, 'used_2'), num(row, 'used_3')),
      }))
      return (await runOne(connection, projectNamesStatement(reading(scope), prefix), named))
        .filter(({ used }) => used > 0)
        .toSorted((a, b) => b.used - a.used || compareText(a.name, b.name))
        .slice(0, limit)
        .map(({ name }) => name)
    },

    async tail(scope, threadId, limit, maxBytes) {
      const context = reading(scope)
      const batch = new Batch()
      const tail = batch.add(tailStatement(context, threadId, limit, maxBytes), asRows)
      const total = batch.add(tailTotalStatement(context, threadId), countOf('total'))
      const result = await batch.run(connection)
      return { ...(await readWithin(result.of(tail))), total: result.of(total) }
    },

    async project(scope, project, request) {
      const context = reading(scope)
      const batch = new Batch()
      const counts = batch.add(
        projectCountsStatement(context, project),
        each((row) => ({ kind: kindOf(row, 'kind'), count: num(row, 'count') })),
      )
      const decisions = batch.add(newestDecisionsStatement(context, project, request), each(toEntry))
      const inFlight = batch.add(inFlightStatement(context, project, request), each(toEntry))
      const result = await batch.run(connection)
      if (result.of(counts).length === 0) return null
      return {
        counts: result.of(counts).toSorted((a, b) => b.count - a.count || compareText(a.kind, b.kind)),
        decisions: result.of(decisions),
        inFlight: result.of(inFlight),
      }
    },
  }
}
