import type { Layer } from '../../domain/entry/entry'
import type { PlacedVector } from './scan'

/** The vectors of an object in its own SQLite, and how far it has come. */

interface Progress {
  /** Every vector up to this id was added. */
  readonly added: number
  readonly removed: number
  /** Vectors that it has. */
  readonly held: number
  /** Entries whose vectors are left out. */
  readonly leftOut: number
}

/** One change, written in one transaction. */
export interface StorageChange {
  readonly added: readonly PlacedVector[]
  readonly removed: readonly number[]
  readonly progress: Pick<Progress, 'added' | 'removed'>
  /** Vectors that it may have: of more, the oldest are left out. */
  readonly capacity: number
}

/** A vector as it is stored; `layer` is null for an entry that no list shows. */
type Stored = [id: number, entry: number, layer: number | null, project: string, reader: string, data: ArrayBuffer]

const placedVector = ([id, entryId, layer, project, reader, data]: Stored): PlacedVector => ({
  ...{ id, entryId, values: new Int8Array(data) },
  place: layer === null ? null : { layer: layer as Layer, project, reader },
})

/** A table of another shape, from another release, is dropped: its vectors are sent again from the database. */
const TABLE = `CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, layer INTEGER, project TEXT NOT NULL, reader TEXT NOT NULL, data BLOB NOT NULL
)`
/** The same where some are left out: an earlier release would take these vectors for all. */
const TABLE_OF_NEWEST = `${TABLE.slice(0, -1)}, newest INTEGER)`

export class VectorStorage {
  /** As stored; null until it is read, and after a change. */
  private known: Progress | null = null
  private isCut: boolean

  constructor(private readonly storage: DurableObjectStorage) {
    this.sql.exec('CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL)')
    const shape = this.shapeOf('vectors')
    this.isCut = shape === TABLE_OF_NEWEST
    if (shape !== TABLE && !this.isCut) this.clear()
  }

  private get sql(): SqlStorage {
    return this.storage.sql
  }

  private shapeOf(table: string): string | undefined {
    return this.sql.exec<{ sql: string }>('SELECT sql FROM sqlite_master WHERE name = ?', table).toArray()[0]?.sql
  }

  /** Begins again, with nothing. */
  clear(): void {
    this.known = null
    this.isCut = false
    this.storage.transactionSync(() => {
      this.sql.exec('DROP TABLE IF EXISTS vectors')
      this.sql.exec('DROP TABLE IF EXISTS left_out')
      this.sql.exec('DELETE FROM progress')
      this.sql.exec(TABLE)
    })
  }

  progress(): Progress {
    if (this.known === null) {
      const rows = this.sql.exec<{ name: string; value: number }>('SELECT name, value FROM progress').toArray()
      const values = new Map(rows.map(({ name, value }) => [name, value]))
      const value = (name: string) => values.get(name) ?? 0
      const held = values.get('held') ?? this.sql.exec<{ n: number }>('SELECT count(*) AS n FROM vectors').one().n
      this.known = { added: value('added'), removed: value('removed'), held, leftOut: value('leftOut') }
    }
    return this.known
  }

  /** Vectors behind an id, in order. */
  read(after: number, limit: number): PlacedVector[] {
    const rows = this.sql
      .exec(
        'SELECT id, entry, layer, project, reader, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
        after,
        limit,
      )
      .raw<Stored>()
    return Array.from(rows, placedVector)
  }

  /** @returns ids of the vectors that are left out since then */
  write({ added, removed, progress, capacity }: StorageChange): readonly number[] {
    const before = this.progress()
    this.known = null
    return this.storage.transactionSync(() => {
      let { held, leftOut } = before
      for (const { id, entryId, place, values } of added)
        held += this.counted(
          `INSERT INTO vectors (id, entry, layer, project, reader, data) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING RETURNING 1 AS n`,
          ...[id, entryId, place?.layer ?? null, place?.project ?? '', place?.reader ?? ''],
          values.slice().buffer,
        )
      for (const id of removed) {
        const gone = this.counted('DELETE FROM vectors WHERE id = ? RETURNING 1 AS n', id)
        held -= gone
        if (gone === 0 && this.isCut)
          leftOut -= this.counted('DELETE FROM left_out WHERE id = ? RETURNING ends AS n', id)
      }
      const oldest = held > capacity ? this.oldest(held - capacity) : []
      for (const { id, ends } of oldest) {
        this.sql.exec('DELETE FROM vectors WHERE id = ?', id)
        this.sql.exec('INSERT OR REPLACE INTO left_out (id, ends) VALUES (?, ?)', id, ends)
        leftOut += ends
      }
      held -= oldest.length
      for (const [name, value] of Object.entries({ ...progress, held, leftOut }))
        this.sql.exec(
          `INSERT INTO progress (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
          ...[name, value],
        )
      return oldest.map(({ id }) => id)
    })
  }

  /** The sum of `n` over the rows of a statement. */
  private counted(statement: string, ...values: SqlStorageValue[]): number {
    const rows = this.sql.exec<{ n: number }>(statement, ...values).toArray()
    return rows.reduce((sum, { n }) => sum + n, 0)
  }

  /** The oldest vectors, each with 1 where it is the last of its entry, whose vectors follow each other. */
  private oldest(count: number): { readonly id: number; readonly ends: number }[] {
    if (!this.isCut) {
      this.sql.exec('ALTER TABLE vectors ADD COLUMN newest INTEGER')
      this.sql.exec('CREATE TABLE left_out (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL)')
      this.isCut = true
    }
    const rows = this.sql
      .exec<{ id: number; entry: number }>('SELECT id, entry FROM vectors ORDER BY id LIMIT ?', count + 1)
      .toArray()
    return rows.slice(0, count).map(({ id, entry }, i) => ({ id, ends: rows[i + 1]?.entry === entry ? 0 : 1 }))
  }

  /** Numbers of the objects in which an earlier release had further vectors of the space. */
  earlierParts(): number[] {
    if (this.shapeOf('parts') === undefined) return []
    return this.sql
      .exec<{ n: number }>('SELECT n FROM parts')
      .toArray()
      .map(({ n }) => n)
  }

  forgetEarlierParts(): void {
    this.sql.exec('DROP TABLE IF EXISTS parts')
  }
}
