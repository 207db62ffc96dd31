// How do several statements run as one transaction in one round trip?
import type { Connection, Submittable } from 'pg'
import type { Row } from '../sql/core/connection'

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** smallint, integer, bigint, real, double precision, numeric: none of our numbers is beyond 2⁵³. */
const NUMBERS: ReadonlySet<number> = new Set([21, 23, 20, 700, 701, 1700])
const BOOLEAN = 16

/** JSON stays text, as D1 returns it, and so does everything else. */
function parse(text: string | null, type: number): unknown {
  if (text === null) return null
  if (NUMBERS.has(type)) return Number(text)
  return type === BOOLEAN ? text === 't' : text
}

/** The part of the driver's connection that speaks the extended protocol. */
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
 * Statements sent together with a single Sync behind them. The server runs them in order and skips what follows a failed
 * one; its answer is read once. Statements have no names, so any pooler may stand in between.
 */
export class StatementGroup implements Submittable {
  readonly rows: Promise<Row[][]>
  /** The driver wants one, and calls it when the connection breaks. */
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
        // What has been prepared stays until another is: the server reads and, from the sixth on, plans it only once.
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
    for (const [i, { name, dataTypeID }] of this.fields.entries()) row[name] = parse(fields[i] ?? null, dataTypeID)
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
