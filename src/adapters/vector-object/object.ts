import { DurableObject } from 'cloudflare:workers'
import { fromBase64 } from '../../domain/vector'
import type { VectorChanges, VectorIndexState } from '../../ports/vector-index'
import { type Scored, VectorScan } from './scan'

/** Vectors read in one go: some 20 ms of work. */
const LOADED_AT_ONCE = 2_000

/** Lets others have their turn, which a timer that is due at once does not. */
const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 1))

/**
 * The vectors of one org and model: kept in the object's own SQLite, loaded into memory by the first search after it
 * wakes. It knows nothing of entries; what it loses is sent again from the database.
 */
export class VectorObject extends DurableObject {
  private scan: VectorScan | null = null
  private loading: Promise<VectorScan> | null = null
  /** What has been read of it so far; null when that is of no use any more. */
  private partial: VectorScan | null = null

  constructor(state: DurableObjectState, env: never) {
    super(state, env)
    state.storage.sql.exec('CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, data BLOB NOT NULL)')
    state.storage.sql.exec('CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL)')
  }

  private get sql(): SqlStorage {
    return this.ctx.storage.sql
  }

  state(): VectorIndexState {
    const rows = this.sql.exec<{ name: string; value: number }>('SELECT name, value FROM progress').toArray()
    const value = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
    return { addedUpTo: value('added'), removedUpTo: value('removed') }
  }

  /** Shared by searches that come while it goes on. */
  private load(dimensions: number): Promise<VectorScan> {
    this.loading ??= this.read(dimensions).finally(() => {
      this.loading = null
    })
    return this.loading
  }

  /** Reads the vectors a part at a time, with rests in between; what is applied meanwhile is applied to the part that stands. */
  private async read(dimensions: number): Promise<VectorScan> {
    for (;;) {
      if (this.scan !== null) return this.scan
      const scan = new VectorScan(dimensions)
      this.partial = scan
      let after = Number.MIN_SAFE_INTEGER
      let more = true
      while (more && this.partial === scan) {
        const rows = this.sql
          .exec<{ id: number; data: ArrayBuffer }>(
            'SELECT id, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
            after,
            LOADED_AT_ONCE,
          )
          .toArray()
        for (const row of rows) scan.set(row.id, new Int8Array(row.data))
        after = rows.at(-1)?.id ?? after
        more = rows.length === LOADED_AT_ONCE
        if (more) await rest()
      }
      if (this.partial === scan) this.scan = scan
      this.partial = null
    }
  }

  /** Hits travel as two arrays of numbers: tens of thousands of small objects would be slow to send. */
  async search(dimensions: number, query: Int8Array, limit: number): Promise<Scored & { upTo: number; cut: boolean }> {
    const scan = await this.load(dimensions)
    const { ids, cosines } = scan.nearest(query, limit)
    return { ids, cosines, upTo: this.state().addedUpTo, cut: scan.size > ids.length }
  }

  /** Storage and memory change together: a failure in between drops the memory, which is then loaded anew. */
  apply(_dimensions: number, changes: VectorChanges): void {
    const { added, addedUpTo, removed, removedUpTo } = changes
    const vectors = added.map(({ id, data }) => ({ id, values: fromBase64(data).values }))
    try {
      this.ctx.storage.transactionSync(() => {
        for (const { id, values } of vectors) {
          const bytes = values.slice().buffer
          this.sql.exec('INSERT OR REPLACE INTO vectors (id, data) VALUES (?, ?)', id, bytes)
        }
        for (const id of removed) this.sql.exec('DELETE FROM vectors WHERE id = ?', id)
        for (const [name, value] of [
          ['added', addedUpTo],
          ['removed', removedUpTo],
        ])
          this.sql.exec(
            'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)',
            name,
            value,
          )
      })
      const scan = this.scan ?? this.partial
      if (scan === null) return
      for (const { id, values } of vectors) scan.set(id, values)
      for (const id of removed) scan.delete(id)
    } catch (error) {
      this.scan = null
      this.partial = null
      throw error
    }
  }
}
