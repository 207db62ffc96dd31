import type { Log } from './log'

/** What one request cost and what became of it, for its line in the log, `Server-Timing` and `/metrics`. Never text. */
export interface Measure {
  /** Hears what each batch of statements cost, as the database's connection logs it. */
  readonly log: Log
  /** Whoever asks; null for the operator and in open mode. */
  asks(who: { readonly org: string; readonly key: string; readonly agent: string | null }): void
  /** How long the credential took. */
  authenticated(): void
  called(tool: string, outcome: string): void
  /** The caller's trace, by header or `_meta`; what is not as W3C's Trace Context says is left out. */
  traced(parent: unknown): void
  /** Members of the line, by the end of the request. */
  line(): Record<string, unknown>
  /** Value of the header `Server-Timing`. */
  timing(): string
  readonly tools: readonly (readonly [tool: string, outcome: string])[]
  total(): number
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

const count = (fields: Record<string, unknown>, name: string): number => {
  const value = fields[name]
  return typeof value === 'number' ? value : 0
}

/** @param log of the events that pass through */
export function createMeasure(log: Log, now: () => number): Measure {
  const begun = now()
  const ms = { auth: 0, database: 0 }
  const database = { statements: 0, rows_read: 0, rows_written: 0 }
  const tools: (readonly [string, string])[] = []
  let who: Record<string, unknown> = {}
  let trace: string | null = null
  return {
    tools,
    log(level, event, fields = {}) {
      if (event === 'sql') {
        database.statements += count(fields, 'statements')
        database.rows_read += count(fields, 'rowsRead')
        database.rows_written += count(fields, 'rowsWritten')
        ms.database += count(fields, 'milliseconds')
      }
      log(level, event, fields)
    },
    asks({ org, key, agent }) {
      who = { org, key, ...(agent !== null && { agent }) }
    },
    authenticated() {
      ms.auth = now() - begun
    },
    called: (tool, outcome) => void tools.push([tool, outcome]),
    traced(parent) {
      if (typeof parent === 'string' && TRACEPARENT.test(parent)) trace = parent
    },
    total: () => now() - begun,
    timing: () => `total;dur=${now() - begun}, auth;dur=${ms.auth}, db;dur=${ms.database}`,
    line: () => ({
      ...who,
      ...(tools.length > 0 && {
        tool: tools.map(([tool]) => tool).join(','),
        outcome: tools.map(([, o]) => o).join(','),
      }),
      ms: now() - begun,
      ms_auth: ms.auth,
      ms_database: ms.database,
      ...database,
      ...(trace !== null && { traceparent: trace }),
    }),
  }
}
