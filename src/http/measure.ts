import type { Millis } from '../domain/time'
import type { Log } from './log'

/** Measures the cost and outcome of one request, for its log line, `Server-Timing` and `/metrics`. Never text. */
export interface Measure {
  /** Receives the cost of each batch of statements, as the database connection logs it. */
  readonly log: Log
  /** The caller; null for the operator and in open mode. */
  asks(who: { readonly org: string; readonly key: string; readonly agent: string | null }): void
  /** Milliseconds to check the credential. */
  authenticated(): void
  called(tool: string, outcome: string): void
  /** Milliseconds to serialize a result. */
  rendered(milliseconds: number): void
  /** The caller's trace, from the header or `_meta`; dropped unless it follows W3C Trace Context. */
  traced(parent: unknown): void
  /** A data point of one request for Analytics Engine. */
  point(route: string, status: number): DataPoint
  /** Members of the log line at the end of the request. */
  line(): Record<string, unknown>
  /** Value of the header `Server-Timing`. */
  timing(): string
  readonly tools: readonly (readonly [tool: string, outcome: string])[]
  total(): number
}

/**
 * Stages of a request's time. They may overlap: time of an index in the database counts for both. A Worker's clock does not advance
 * between two external responses, so pure computation (a local model, serialization) may measure as zero.
 */
const STAGES = ['auth', 'embed', 'database', 'index', 'render'] as const
type Stage = (typeof STAGES)[number]
const isStage = (name: unknown): name is Stage => STAGES.some((stage) => stage === name)

/**
 * Data point for Analytics Engine, sampled by organization: route, status, key, tool and outcome; milliseconds in all and of each
 * stage, statements, rows read and written.
 */
export interface DataPoint {
  readonly indexes: string[]
  readonly blobs: string[]
  readonly doubles: number[]
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

const count = (fields: Record<string, unknown>, name: string): number => {
  const value = fields[name]
  return typeof value === 'number' ? value : 0
}

/** @param log receives the events that pass through */
export function createMeasure(log: Log, now: () => Millis): Measure {
  const begun = now()
  const ms: Record<Stage, number> = { auth: 0, embed: 0, database: 0, index: 0, render: 0 }
  const database = { statements: 0, rows_read: 0, rows_written: 0 }
  const tools: (readonly [string, string])[] = []
  let who: { readonly org?: string; readonly key?: string; readonly agent?: string } = {}
  let trace: string | null = null
  const joined = (at: 0 | 1): string => tools.map((call) => call[at]).join(',')
  return {
    tools,
    log(level, event, fields = {}) {
      if (event === 'sql') {
        database.statements += count(fields, 'statements')
        database.rows_read += count(fields, 'rowsRead')
        database.rows_written += count(fields, 'rowsWritten')
        ms.database += count(fields, 'milliseconds')
      }
      if (event === 'stage' && isStage(fields.stage)) ms[fields.stage] += count(fields, 'milliseconds')
      log(level, event, fields)
    },
    asks({ org, key, agent }) {
      who = { org, key, ...(agent !== null && { agent }) }
    },
    authenticated() {
      ms.auth = now() - begun
    },
    called: (tool, outcome) => void tools.push([tool, outcome]),
    rendered(milliseconds) {
      ms.render += milliseconds
    },
    traced(parent) {
      if (typeof parent === 'string' && TRACEPARENT.test(parent)) trace = parent
    },
    total: () => now() - begun,
    timing: () => [`total;dur=${now() - begun}`, ...STAGES.map((stage) => `${stage};dur=${ms[stage]}`)].join(', '),
    point: (route, status) => ({
      indexes: [who.org ?? ''],
      blobs: [route, String(status), who.key ?? '', joined(0), joined(1)],
      doubles: [
        ...[now() - begun, ...STAGES.map((stage) => ms[stage])],
        ...[database.statements, database.rows_read, database.rows_written],
      ],
    }),
    line: () => ({
      ...who,
      ...(tools.length > 0 && { tool: joined(0), outcome: joined(1) }),
      ms: now() - begun,
      ...Object.fromEntries(STAGES.map((stage) => [`ms_${stage}`, ms[stage]])),
      ...database,
      ...(trace !== null && { traceparent: trace }),
    }),
  }
}
