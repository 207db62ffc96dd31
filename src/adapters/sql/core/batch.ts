// How is it known which rows of a batch answer which of its statements? Each statement that is read has a handle.

import type { SQL } from 'drizzle-orm'
import type { Row, SqlConnection, WriteLock } from './connection'

/** Makes of the rows of one statement what they mean; stands beside the statement, in the file of its table. */
export type Decode<T> = (rows: readonly Row[]) => T

/** Names the result of one statement of a batch. */
export class Handle<T> {
  constructor(readonly decode: Decode<T>) {}
}

/** What a batch brought. */
export class Results {
  constructor(private readonly rows: ReadonlyMap<unknown, readonly Row[]>) {}

  /** The decoded rows of one statement. @throws Error for a handle of another batch */
  of<T>(handle: Handle<T>): T {
    const rows = this.rows.get(handle)
    if (rows === undefined) throw new Error('a handle of another batch')
    return handle.decode(rows)
  }
}

/** Statements that run in order as one transaction in one round trip. */
export class Batch {
  private readonly statements: SQL[] = []
  /** Of each statement the handle by which it is read, if it is. */
  private readonly handles: (unknown | null)[] = []

  /** @param statements whose rows nobody reads */
  constructor(...statements: readonly SQL[]) {
    this.do(statements)
  }

  get isEmpty(): boolean {
    return this.statements.length === 0
  }

  /** A statement whose rows are read. */
  add<T>(statement: SQL, decode: Decode<T>): Handle<T> {
    const handle = new Handle(decode)
    this.statements.push(statement)
    this.handles.push(handle)
    return handle
  }

  /** Statements whose rows nobody reads. */
  do(statements: readonly SQL[]): this {
    for (const statement of statements) {
      this.statements.push(statement)
      this.handles.push(null)
    }
    return this
  }

  /** The statements of another batch, whose handles name their results in this one too. */
  join(other: Batch): this {
    this.statements.push(...other.statements)
    this.handles.push(...other.handles)
    return this
  }

  /** @throws PremiseFailed when a guard refused; Problem unavailable when the database does not answer */
  async run(connection: Pick<SqlConnection, 'batch'>, lock?: WriteLock): Promise<Results> {
    return this.results(this.isEmpty ? [] : await connection.batch(this.statements, lock))
  }

  /** As `run`, of statements that only read: calls made in the same moment may share a round trip. */
  async read(connection: Pick<SqlConnection, 'read'>): Promise<Results> {
    return this.results(this.isEmpty ? [] : await connection.read(this.statements))
  }

  private results(rows: readonly Row[][]): Results {
    const byHandle = new Map<unknown, readonly Row[]>()
    for (const [i, handle] of this.handles.entries()) if (handle !== null) byHandle.set(handle, rows[i] ?? [])
    return new Results(byHandle)
  }
}

/** One statement that only reads; asked for in the same moment as others, it may share their round trip. */
export async function readOne<T>(
  connection: Pick<SqlConnection, 'read'>,
  statement: SQL,
  decode: Decode<T>,
): Promise<T> {
  const batch = new Batch()
  const handle = batch.add(statement, decode)
  return (await batch.read(connection)).of(handle)
}

/** One statement as a transaction of its own. */
export async function runOne<T>(
  connection: Pick<SqlConnection, 'batch'>,
  statement: SQL,
  decode: Decode<T>,
  lock?: WriteLock,
): Promise<T> {
  const batch = new Batch()
  const handle = batch.add(statement, decode)
  return (await batch.run(connection, lock)).of(handle)
}

// What is true when a database has failed? Who reads is told that nothing was changed; who writes only when that is certain.

/** Whether a statement only reads. */
export const isReading = (text: string): boolean =>
  /^\s*(?:SELECT|WITH)\b/.test(text) && !/\b(?:INSERT INTO|DELETE FROM|UPDATE)\b/.test(text)

/** Why the same write may be made again, although it is not known whether it was made. */
const AGAIN =
  'the same call may be made again: a repeated store meets its own entry unless another turn has come between, and a ' +
  'repeated update or delete has no further effect'

/** @param what the failure, without hosts, names or SQL @param wrote whether statements that write were on their way */
export const unanswered = (what: string, wrote: boolean): string =>
  wrote
    ? `${what}, so it is not known whether the change was made; ${AGAIN}`
    : `${what}; nothing was changed, try again`

type RunBatch = (statements: readonly SQL[]) => Promise<Row[][]>

interface Waiting {
  readonly statements: readonly SQL[]
  readonly resolve: (rows: Row[][]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Lets reads that are asked for in the same moment share one batch, as the two legs of a hybrid search do. If the shared
 * batch fails, each is tried by itself, so that a read never fails for the sake of another.
 */
export function sharingReads(batch: RunBatch): RunBatch {
  let waiting: Waiting[] = []

  async function runAlone({ statements, resolve, reject }: Waiting): Promise<void> {
    await batch(statements).then(resolve, reject)
  }

  async function flush(): Promise<void> {
    const shared = waiting
    waiting = []
    if (shared.length === 1) return runAlone(shared[0] as Waiting)
    try {
      const rows = await batch(shared.flatMap(({ statements }) => statements))
      let at = 0
      for (const { statements, resolve } of shared) {
        resolve(rows.slice(at, at + statements.length))
        at += statements.length
      }
    } catch {
      await Promise.all(shared.map(runAlone))
    }
  }

  return (statements) =>
    new Promise((resolve, reject) => {
      waiting.push({ statements, resolve, reject })
      if (waiting.length === 1) queueMicrotask(() => void flush())
    })
}
