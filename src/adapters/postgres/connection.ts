// Runs statements on PostgreSQL. Each request has one connection, opened by its first statement and closed when its work is done.

import type { SQL } from 'drizzle-orm'
import { Client, type ClientConfig, type Connection, type Submittable } from 'pg'
import type { DatabaseHealth } from '../../ports/models'
import { isReading, sharingReads } from '../sql/core/batch'
import { PreconditionFailed, type Row, render, type SqlConnection, type WriteLock } from '../sql/core/connection'
import type { SqlDialect } from '../sql/core/dialect'
import { endsSession, isLostRace, translate } from './errors'

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** smallint, integer, bigint, real, double precision, numeric: all numbers of the schema are below 2⁵³. */
const NUMBERS: ReadonlySet<number> = new Set([21, 23, 20, 700, 701, 1700])
const BOOLEAN = 16

/** Returns numbers as numbers, and JSON and all other types as text, as D1 does. */
function parse(text: string | null, type: number): unknown {
  if (text === null) return null
  if (NUMBERS.has(type)) return Number(text)
  return type === BOOLEAN ? text === 't' : text
}

/** The part of the driver's connection that implements the extended protocol. */
interface Wire {
  readonly stream: { cork?(): void; uncork?(): void }
  parse(query: { text: string; name: string }): void
  bind(config: { values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void
  describe(target: { type: 'P' }): void
  execute(config: object): void
  sync(): void
}

const toText = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))

/**
 * Sends statements together, followed by a single Sync. The server runs them in order and skips those after a failed one; the response is
 * read once. Statements have no names, so that any pooler may be in between.
 */
export class StatementGroup implements Submittable {
  readonly rows: Promise<Row[][]>
  /** Required by the driver, which calls it when the connection breaks. */
  readonly callback = (error: Error | null): void => {
    if (error !== null) this.reject(error)
  }
  private readonly results: Row[][] = []
  private current: Row[] = []
  private fields: readonly Field[] = []
  private resolve!: (rows: Row[][]) => void
  private reject!: (error: unknown) => void

  constructor(private readonly statements: readonly Statement[]) {
    this.rows = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire
    wire.stream.cork?.()
    try {
      let prepared: string | null = null
      for (const { text, values } of this.statements) {
        // A prepared statement stays until another one is prepared: equal statements are parsed once, and planned once from the sixth on.
        if (text !== prepared) wire.parse({ text, name: '' })
        prepared = text
        wire.bind({ values, valueMapper: toText })
        wire.describe({ type: 'P' })
        wire.execute({})
      }
      wire.sync()
    } finally {
      wire.stream.uncork?.()
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.fields = fields
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Row = {}
    for (let i = 0; i < this.fields.length; i++) {
      const { name, dataTypeID } = this.fields[i] as Field
      row[name] = parse(fields[i] ?? null, dataTypeID)
    }
    this.current.push(row)
  }

  handleCommandComplete(): void {
    this.results.push(this.current)
    this.current = []
    this.fields = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handleError(error: unknown): void {
    this.reject(error)
  }

  handleReadyForQuery(): void {
    this.resolve(this.results)
  }
}

export interface PostgresOptions {
  /** Connection string of the Hyperdrive binding. */
  readonly connectionString: string
  /** POSTGRESQL_SCHEMA. */
  readonly schema: string
  /** Creates sockets; by default the driver does. */
  readonly stream?: ClientConfig['stream'] | undefined
}

/** Cost of one batch, for logs, budgets and benchmarks. */
interface GroupCost {
  readonly statements: number
  readonly milliseconds: number
}

/** Counts since this isolate started. */
const counts = { total: 0, failed: 0, lastFailed: false, latencyMs: 0 }

const CONNECT_MS = 10_000
/** Milliseconds that a connection stays open for work after the response. */
const LINGER_MS = 10
const GOODBYE_MS = 500
const TRIES = 3
/**
 * Class of this program's advisory locks. The second number is computed from schema and organization; for all organizations, from the
 * schema.
 */
const LOCK_ALL = 0x63_70_61
const LOCK_ORG = 0x63_70_6f

const BEGIN: Statement = { text: 'BEGIN', values: [] }
const BEGIN_READ: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] }
const COMMIT: Statement = { text: 'COMMIT', values: [] }

const isRead = ({ text }: Statement): boolean => isReading(text)

/** Quotes the name of a schema for SQL. */
export const quoted = (schema: string): string => `"${schema.replaceAll('"', '""')}"`

/**
 * Planner settings: every statement should use an index, since a sequential scan reads the rows of other organizations, and a planner
 * without statistics may choose one. JIT compilation takes longer than any statement.
 */
const PLANNER = `set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`

/**
 * Returns the statements at the start of a transaction. Behind a pooler no session state survives a transaction, so each one sets the
 * schema. Writers of one organization wait for each other, as all writers do in D1; a lock of all organizations waits for all.
 */
function opening(schema: string, lock: WriteLock | undefined): Statement {
  const path = `set_config('search_path', $1, true), ${PLANNER}`
  const values = [`${quoted(schema)}, pg_temp`]
  if (lock === undefined) return { text: `SELECT ${path}`, values }
  if (lock === 'all')
    return { text: `SELECT ${path}, pg_advisory_xact_lock(${LOCK_ALL}, hashtext($2))`, values: [...values, schema] }
  const lasting = lock.isNote ? `, set_config('synchronous_commit', 'off', true)` : ''
  return {
    text: `SELECT ${path}${lasting},
      pg_advisory_xact_lock_shared(${LOCK_ALL}, hashtext($2)), pg_advisory_xact_lock(${LOCK_ORG}, hashtext($3))`,
    values: [...values, schema, `${schema}\n${lock.org}`],
  }
}

/** A connection that runs statements, without a dialect. */
type PostgresSession = Omit<PostgresConnection, 'dialect'>

export interface PostgresConnection extends SqlConnection {
  readonly health: DatabaseHealth
  /**
   * Closes the connection as soon as no statement runs; a later statement opens another one, which is closed when it is done.
   */
  close(): Promise<void>
}

export const createPostgresConnection = (
  options: PostgresOptions,
  dialect: SqlDialect,
  observe?: (cost: GroupCost) => void,
): PostgresConnection => Object.assign(createPostgresSession(options, observe), { dialect })

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createPostgresSession(
  { connectionString, schema, stream }: PostgresOptions,
  observe: (cost: GroupCost) => void = () => {},
): PostgresSession {
  let client: Promise<Client> | null = null
  let running = 0
  let closing = false
  /** Statements of one connection run in sequence. */
  let queue: Promise<unknown> = Promise.resolve()

  async function open(): Promise<Client> {
    const opened = new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'commonplace',
      ...(stream && { stream }),
    })
    const forget = () => {
      client = null
    }
    // A connection that breaks while idle is replaced by the next statement.
    opened.on('error', forget)
    opened.on('end', forget)
    try {
      await opened.connect()
    } catch (error) {
      void opened.end().catch(() => {})
      throw translate(error, 'connecting')
    }
    return opened
  }

  const connected = (): Promise<Client> => {
    if (client === null) {
      client = open()
      client.catch(() => {
        client = null
      })
    }
    return client
  }

  /** Waits only briefly, because not all sockets report that they are closed. */
  async function hangUp(): Promise<void> {
    const open = client
    client = null
    if (open === null) return
    const ended = open.then((opened) => opened.end()).catch(() => {})
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS))])
  }

  const letGo = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, LINGER_MS))
    if (running === 0) await hangUp()
  }

  async function send(statements: readonly Statement[]): Promise<Row[][]> {
    const opened = await connected()
    const group = new StatementGroup(statements)
    opened.query(group)
    try {
      return await group.rows
    } catch (error) {
      if (endsSession(error)) void hangUp()
      else if (statements.length > 2) await opened.query('ROLLBACK').catch(hangUp)
      throw error
    }
  }

  /** A single read is a transaction by itself; several reads see one state of the database; writes are atomic. */
  async function run(statements: readonly Statement[], lock: WriteLock | undefined): Promise<Row[][]> {
    const reading = statements.every(isRead)
    if (reading && statements.length === 1) return (await send([opening(schema, undefined), ...statements])).slice(1)
    const group = [reading ? BEGIN_READ : BEGIN, opening(schema, reading ? undefined : lock), ...statements, COMMIT]
    return (await send(group)).slice(2, -1)
  }

  async function persist(statements: readonly Statement[], lock: WriteLock | undefined): Promise<Row[][]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(statements, lock)
      } catch (error) {
        if (attempt === TRIES || !isLostRace(error))
          throw translate(error, statements.every(isRead) ? 'reading' : 'writing')
      }
    }
  }

  async function inTurn(statements: readonly Statement[], lock?: WriteLock): Promise<Row[][]> {
    running++
    const turn = queue.then(() => persist(statements, lock))
    queue = turn.catch(() => {})
    try {
      return await turn
    } finally {
      if (--running === 0 && closing) void letGo()
    }
  }

  const batch = async (list: readonly SQL[], lock?: WriteLock): Promise<Row[][]> => {
    const started = Date.now()
    counts.total += list.length
    try {
      const statements = list.map((statement): Statement => {
        const values: unknown[] = []
        const text = render(statement, (value) => `$${values.push(value)}`)
        return { text, values }
      })
      const rows = await inTurn(statements, lock)
      counts.lastFailed = false
      counts.latencyMs = Date.now() - started
      observe({ statements: list.length, milliseconds: counts.latencyMs })
      return rows
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) {
        counts.failed += list.length
        counts.lastFailed = true
      }
      throw error
    }
  }

  return {
    batch,
    read: sharingReads(batch),
    health: {
      backend: 'postgresql',
      ping: async () => {
        await inTurn([{ text: 'SELECT 1', values: [] }])
      },
      counts: () => ({ ...counts }),
    },
    async close() {
      closing = true
      if (running === 0) await letGo()
    },
  }
}
