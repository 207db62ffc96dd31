import type { Scope } from '../domain/identity/scope'
import type { StoreStatistics } from '../domain/statistics'
import type { Millis } from '../domain/time'
import { NO_USAGE, type RequestUsage, type UsageSum } from '../services/people/usage'
import type { Services } from '../services/services'
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
  /** The project that a call names, and the characters of its answer. */
  answered(project: string | null, characters: number): void
  /** Returns the usage of this request. @param later receives the rows of work after the answer, which belong to the same key */
  usage(route: string, later: (usage: RequestUsage) => void): RequestUsage
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
  let named: string | null = null
  let characters = 0
  let stored = 0
  let who: { readonly org?: string; readonly key?: string; readonly agent?: string } = {}
  let trace: string | null = null
  let afterwards: ((rows: Pick<RequestUsage, 'rowsRead' | 'rowsWritten'>) => void) | null = null
  const joined = (at: 0 | 1): string => tools.map((call) => call[at]).join(',')
  return {
    tools,
    log(level, event, fields = {}) {
      if (event === 'sql') {
        database.statements += count(fields, 'statements')
        database.rows_read += count(fields, 'rowsRead')
        database.rows_written += count(fields, 'rowsWritten')
        ms.database += count(fields, 'milliseconds')
        afterwards?.({ rowsRead: count(fields, 'rowsRead'), rowsWritten: count(fields, 'rowsWritten') })
      }
      if (event === 'stored') stored += count(fields, 'entries')
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
    answered(project, more) {
      named ??= project
      characters += more
    },
    usage(route, later) {
      const { org = '', key = '' } = who
      const whose = { org, keyId: key, project: named }
      afterwards = (rows) => later({ ...whose, ...NO_USAGE, ...rows })
      return {
        ...{ ...whose, requests: 1, calls: key === '' ? 0 : route === 'mcp' ? tools.length : 1 },
        ...{ failed: tools.filter(([, outcome]) => outcome !== 'ok').length, entries: stored },
        ...{ rowsRead: database.rows_read, rowsWritten: database.rows_written, tokens: Math.ceil(characters / 4) },
      }
    },
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

/**
 * Counters of this isolate since it started, and the totals of an organization, in the text format of Prometheus
 * (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4). An isolate of Cloudflare lives for minutes to hours and runs next
 * to others: for totals, sum all scrapes or bind Analytics Engine.
 */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Upper bounds of the histogram, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface Latency {
  readonly buckets: number[]
  sum: number
  count: number
}

/** Counters of an isolate. */
export interface Counters {
  readonly calls: Map<string, number>
  readonly latencies: Map<string, Latency>
}

export const createCounters = (): Counters => ({ calls: new Map(), latencies: new Map() })

/** @param route a short name from a fixed set, so that series stay few */
export function noteRequest({ calls, latencies }: Counters, route: string, status: number, measure: Measure): void {
  const seconds = measure.total() / 1000
  const key = labels({ route, status: `${Math.floor(status / 100)}xx` })
  const latency = latencies.get(key) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 }
  for (const [i, most] of BUCKETS.entries()) if (seconds <= most) latency.buckets[i] = (latency.buckets[i] ?? 0) + 1
  latency.sum += seconds
  latency.count++
  latencies.set(key, latency)
  for (const [tool, outcome] of measure.tools) {
    const call = labels({ tool, outcome })
    calls.set(call, (calls.get(call) ?? 0) + 1)
  }
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const labels = (given: Readonly<Record<string, string>>): string =>
  Object.entries(given)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')

const metric = (
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly string[],
): string =>
  samples.length === 0
    ? ''
    : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((one) => `${name}${one}\n`).join('')}`

/** Totals of an organization. */
export interface OrganizationTotals {
  readonly org: string
  readonly totals: Pick<StoreStatistics, 'entries' | 'images' | 'entryBytes' | 'imageBytes' | 'kept' | 'work'>
  readonly vectors: number | null
}

export async function organizationTotals(
  { entries, vectorCounts }: Services,
  caller: Scope,
): Promise<OrganizationTotals> {
  const totals = await entries.statistics(caller)
  return { org: caller.org, totals, vectors: vectorCounts === null ? null : (await vectorCounts(caller)).vectors }
}

/** Gauges of today (UTC) of each key: sums of all isolates, up to a minute late. */
const ofKeys = (org: string, usage: readonly UsageSum[]): string[] =>
  (
    [
      ['calls', 'Calls of each key today (UTC).', 'calls'],
      ['failed_calls', 'Failed calls of each key today (UTC).', 'failed'],
      ['entries', 'Entries that each key stored or changed today (UTC).', 'entries'],
      ['tokens', 'Tokens that each key got today (UTC), at four characters each.', 'tokens'],
      ['requests', 'HTTP requests of each key today (UTC), which Cloudflare bills.', 'requests'],
      ['rows_read', 'Database rows that each key read today (UTC).', 'rowsRead'],
      ['rows_written', 'Database rows that each key wrote today (UTC).', 'rowsWritten'],
    ] as const
  ).map(([name, help, column]) =>
    metric(
      `commonplace_key_${name}_today`,
      'gauge',
      help,
      usage.map((sum) => `{${labels({ org, key: sum.of, owner: sum.key?.owner ?? '' })}} ${sum[column]}`),
    ),
  )

/** @param bytes size of the database; null where unknown */
export function metricsText(
  { calls, latencies }: Counters,
  {
    standing,
    bytes,
    limit,
    usage,
    expiring,
  }: {
    readonly standing: OrganizationTotals | null
    readonly bytes: number | null
    readonly limit: number
    /** The usage of each key today. */
    readonly usage: readonly UsageSum[]
    /** Ends of the keys that expire within two weeks, in milliseconds since 1970, by key. */
    readonly expiring: ReadonlyMap<{ readonly org: string; readonly id: string }, Millis>
  },
): string {
  const gauge = (name: string, help: string, value: number | null, more = ''): string =>
    metric(`commonplace_${name}`, 'gauge', help, value === null ? [] : [`${more} ${value}`])
  const histogram = [...latencies].flatMap(([key, { buckets, sum, count }]) => [
    ...buckets.map((value, i) => `_bucket{${key},le="${BUCKETS[i]}"} ${value}`),
    `_bucket{${key},le="+Inf"} ${count}`,
    `_sum{${key}} ${sum}`,
    `_count{${key}} ${count}`,
  ])
  const of = standing === null ? '' : `{${labels({ org: standing.org })}}`
  const { totals } = standing ?? {}
  return [
    metric('commonplace_tool_calls_total', 'counter', 'Tool calls of this isolate, by tool and outcome.', [
      ...[...calls].map(([key, value]) => `{${key}} ${value}`),
    ]),
    metric('commonplace_request_seconds', 'histogram', 'Time until an answer begins, by route.', histogram),
    gauge('database_bytes', 'Size of the database.', bytes),
    gauge('database_limit_bytes', 'Size limit of the database.', bytes === null ? null : limit),
    gauge('entries', 'Entries of the organization.', totals?.entries ?? null, of),
    gauge('entry_bytes', 'Bytes of texts and metadata.', totals?.entryBytes ?? null, of),
    gauge('images', 'Images of the organization.', totals?.images ?? null, of),
    gauge('image_bytes', 'Bytes of images, each once.', totals?.imageBytes ?? null, of),
    gauge('versions', 'Retained versions of entries.', totals?.kept.versions ?? null, of),
    gauge('vectors', 'Vectors of the configured model.', standing?.vectors ?? null, of),
    gauge('work_pending', 'Queued work.', totals?.work.pending ?? null, of),
    ...ofKeys(standing?.org ?? '', usage),
    metric('commonplace_key_expires_seconds', 'gauge', 'End of each key that expires within two weeks, in Unix time.', [
      ...[...expiring].map(([{ org, id }, at]) => `{${labels({ org, key: id })}} ${at / 1000}`),
    ]),
    gauge('work_failed', 'Queued work that failed ten times.', totals?.work.failed ?? null, of),
  ].join('')
}
