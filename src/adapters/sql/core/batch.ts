// Batches of statements. Each statement whose rows are read has a handle, so that no result is read by its position.

import type { SQL } from 'drizzle-orm'
import type { Row, SqlConnection, WriteLock } from './connection'

/** Converts the rows of one statement; declared next to the statement, in the file of its table. */
export type Decode<T> = (rows: readonly Row[]) => T

/** Identifies the result of one statement of a batch. */
export class Handle<T> {
  constructor(readonly decode: Decode<T>) {}
}

/** The results of a batch. */
export class Results {
  constructor(private readonly rows: ReadonlyMap<unknown, readonly Row[]>) {}

  /** Returns the decoded rows of one statement. @throws Error for a handle of another batch */
  of<T>(handle: Handle<T>): T {
    const rows = this.rows.get(handle)
    if (rows === undefined) throw new Error('a handle of another batch')
    return handle.decode(rows)
  }
}

/** A list of statements that run in order as one transaction in one round trip. */
export class Batch {
  private readonly statements: SQL[] = []
  /** The handle of each statement; null if its rows are not read. */
  private readonly handles: (unknown | null)[] = []

  /** @param statements whose rows are not read */
  constructor(...statements: readonly SQL[]) {
    this.do(statements)
  }

  get isEmpty(): boolean {
    return this.statements.length === 0
  }

  /** Adds a statement whose rows are read. */
  add<T>(statement: SQL, decode: Decode<T>): Handle<T> {
    const handle = new Handle(decode)
    this.statements.push(statement)
    this.handles.push(handle)
    return handle
  }

  /** Adds statements whose rows are not read. */
  do(statements: readonly SQL[]): this {
    for (const statement of statements) {
      this.statements.push(statement)
      this.handles.push(null)
    }
    return this
  }

  /** Appends the statements of another batch, whose handles also identify their results in this one. */
  join(other: Batch): this {
    this.statements.push(...other.statements)
    this.handles.push(...other.handles)
    return this
  }

  /**
   * Runs the batch. @throws PreconditionFailed when a precondition failed; Problem unavailable when the database does not respond
   */
  async run(connection: Pick<SqlConnection, 'batch'>, lock?: WriteLock): Promise<Results> {
    return this.results(this.isEmpty ? [] : await connection.batch(this.statements, lock))
  }

  /** Runs a batch of reads: concurrent calls may share a round trip. */
  async read(connection: Pick<SqlConnection, 'read'>): Promise<Results> {
    return this.results(this.isEmpty ? [] : await connection.read(this.statements))
  }

  private results(rows: readonly Row[][]): Results {
    const byHandle = new Map<unknown, readonly Row[]>()
    for (const [i, handle] of this.handles.entries()) if (handle !== null) byHandle.set(handle, rows[i] ?? [])
    return new Results(byHandle)
  }
}

/** Runs one read, which may share the round trip of concurrent reads. */
export async function readOne<T>(
  connection: Pick<SqlConnection, 'read'>,
  statement: SQL,
  decode: Decode<T>,
): Promise<T> {
  const batch = new Batch()
  const handle = batch.add(statement, decode)
  return (await batch.read(connection)).of(handle)
}

/** Runs one statement as a transaction of its own. */
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

// Messages for a failed database: a reader learns that nothing was changed, a writer only when that is certain.

/** Returns whether a statement only reads. */
export const isReading = (text: string): boolean =>
  /^\s*(?:SELECT|WITH)\b/.test(text) && !/\b(?:INSERT INTO|DELETE FROM|UPDATE)\b/.test(text)

/** States why a write of unknown outcome may be repeated. */
const REPEAT_ADVICE =
  'repeat the same call: a repeated store updates its own entry unless another message came in between, and a ' +
  'repeated update or delete has no further effect'

/**
 * Returns the message for a missing response. @param what the failure, without hosts, names or SQL @param wrote whether the statements
 * included writes
 */
export const unanswered = (what: string, wrote: boolean): string =>
  wrote
    ? `${what}, so it is not known whether the change was made; ${REPEAT_ADVICE}`
    : `${what}; nothing was changed, try again`

type RunBatch = (statements: readonly SQL[]) => Promise<Row[][]>

interface Waiting {
  readonly statements: readonly SQL[]
  readonly resolve: (rows: Row[][]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines concurrent reads into one batch, such as those of the two retrievers of a hybrid search. If the combined batch fails, each read
 * runs alone, so that a read never fails because of another.
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
