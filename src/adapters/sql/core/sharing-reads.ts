import type { SQL } from 'drizzle-orm'
import type { Row } from './connection'

type Batch = (statements: readonly SQL[]) => Promise<Row[][]>

interface Waiting {
  readonly statements: readonly SQL[]
  readonly resolve: (rows: Row[][]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Lets reads that are asked for in the same moment share one batch, as the two legs of a hybrid search do. If the shared
 * batch fails, each is tried by itself, so that a read never fails for the sake of another.
 */
export function sharingReads(batch: Batch): Batch {
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
