import type { Layer } from '../../domain/entry/entry'
import type { PlacedVector } from './scan'

/** What one object keeps in its own SQLite: vectors, how far it has come, and of the first object of a space the list of the others. */

/** An object beside the first: a stretch of the ids of the space. */
export interface Part {
  /** Names it; the first object, which has what comes before all parts, is 0. */
  readonly n: number
  /** What it has begins at this id. */
  readonly first: number
  /** It was told of everything up to this id. */
  readonly told: number
  readonly held: number
}

/** What an object knows: of the ids from `first` to `upTo` all that are not gone. */
export interface Stretch {
  readonly first: number
  readonly upTo: number
}

interface Progress {
  /** Every vector up to this id was added: of the space where the object is the first, else of its part. */
  readonly added: number
  readonly removed: number
  /** Where the ids of a part begin; 0 in the first object. */
  readonly first: number
  /** Vectors that it has. */
  readonly held: number
}

/** What is written at once. */
export interface StorageChange {
  readonly added: readonly PlacedVector[]
  readonly removed: readonly number[]
  readonly progress: Partial<Omit<Progress, 'held'>>
  /** The list from now on, with those that do not change as they were read; without it it stays. */
  readonly parts?: readonly Part[]
}

/** A vector as it is kept; `layer` is null for what no list shows. */
type Kept = [id: number, entry: number, layer: number | null, project: string, reader: string, data: ArrayBuffer]

const placedVector = ([id, entryId, layer, project, reader, data]: Kept): PlacedVector => ({
  ...{ id, entryId, values: new Int8Array(data) },
  place: layer === null ? null : { layer: layer as Layer, project, reader },
})

/** What another release has kept in a table of another shape is told by this, forgotten, and asked for again. */
const TABLE = `CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, layer INTEGER, project TEXT NOT NULL, reader TEXT NOT NULL, data BLOB NOT NULL
)`
/** The same in the first of several objects: a release that knows of one only would take these vectors for all. */
const TABLE_OF_PARTS = `${TABLE.slice(0, -1)}, parted INTEGER)`

export class VectorStorage {
  /** As storage has it; null until it is asked for, and since it changed. */
  private known: Progress | null = null
  private list: readonly Part[] | null = null

  constructor(private readonly storage: DurableObjectStorage) {
    this.sql.exec('CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL)')
    this.sql.exec(
      `CREATE TABLE IF NOT EXISTS parts (
        n INTEGER PRIMARY KEY, first INTEGER NOT NULL, told INTEGER NOT NULL, held INTEGER NOT NULL
      )`,
    )
    const shape = this.shape()
    if (shape !== TABLE_OF_PARTS && (shape !== TABLE || this.parts().length > 0)) this.empty()
  }

  private get sql(): SqlStorage {
    return this.storage.sql
  }

  private shape(): string | undefined {
    return this.sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'vectors'").toArray()[0]?.sql
  }

  /** Begins anew, with nothing but the list of the parts, which are to be emptied too. */
  private empty(): void {
    this.known = null
    this.storage.transactionSync(() => {
      this.sql.exec('DROP TABLE IF EXISTS vectors')
      this.sql.exec('DELETE FROM progress')
      this.sql.exec(TABLE)
    })
  }

  /** Begins anew, with nothing. */
  clear(): void {
    this.list = null
    this.sql.exec('DELETE FROM parts')
    this.empty()
  }

  progress(): Progress {
    if (this.known === null) {
      const rows = this.sql.exec<{ name: string; value: number }>('SELECT name, value FROM progress').toArray()
      const values = new Map(rows.map(({ name, value }) => [name, value]))
      const value = (name: string) => values.get(name) ?? 0
      const held = values.get('held') ?? this.count()
      this.known = { added: value('added'), removed: value('removed'), first: value('first'), held }
    }
    return this.known
  }

  /** Releases before this one did not note it. */
  private count(): number {
    return this.sql.exec<{ n: number }>('SELECT count(*) AS n FROM vectors').one().n
  }

  /** In order of their ids. */
  parts(): readonly Part[] {
    this.list ??= this.sql
      .exec<{ n: number; first: number; told: number; held: number }>(
        'SELECT n, first, told, held FROM parts ORDER BY first',
      )
      .toArray()
    return this.list
  }

  /** Vectors behind an id, in order. */
  read(after: number, limit: number): PlacedVector[] {
    const rows = this.sql
      .exec(
        'SELECT id, entry, layer, project, reader, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
        after,
        limit,
      )
      .raw<Kept>()
    return Array.from(rows, placedVector)
  }

  /** Those that it has outside of a stretch. */
  outside({ first, upTo }: Stretch): number[] {
    return this.sql
      .exec<{ id: number }>(
        'SELECT id FROM vectors WHERE id < ? UNION ALL SELECT id FROM vectors WHERE id > ?',
        first,
        upTo,
      )
      .toArray()
      .map(({ id }) => id)
  }

  write({ added, removed, progress, parts }: StorageChange): void {
    const before = this.progress()
    const partsBefore = this.parts()
    this.known = null
    this.list = null
    this.storage.transactionSync(() => {
      let { held } = before
      for (const { id, entryId, place, values } of added)
        held += this.counted(
          `INSERT INTO vectors (id, entry, layer, project, reader, data) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING RETURNING id`,
          ...[id, entryId, place?.layer ?? null, place?.project ?? '', place?.reader ?? ''],
          values.slice().buffer,
        )
      for (const id of removed) held -= this.counted('DELETE FROM vectors WHERE id = ? RETURNING id', id)
      for (const [name, value] of Object.entries({ ...progress, held }))
        this.sql.exec(
          `INSERT INTO progress (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
          ...[name, value],
        )
      if (parts !== undefined) this.writeParts(partsBefore, parts)
    })
  }

  private counted(statement: string, ...values: SqlStorageValue[]): number {
    return this.sql.exec(statement, ...values).toArray().length
  }

  private writeParts(before: readonly Part[], parts: readonly Part[]): void {
    if (parts.length > 0 && this.shape() === TABLE) this.sql.exec('ALTER TABLE vectors ADD COLUMN parted INTEGER')
    for (const { n } of before)
      if (!parts.some((part) => part.n === n)) this.sql.exec('DELETE FROM parts WHERE n = ?', n)
    for (const part of parts)
      if (!before.includes(part))
        this.sql.exec(
          'INSERT OR REPLACE INTO parts (n, first, told, held) VALUES (?, ?, ?, ?)',
          ...[part.n, part.first, part.told, part.held],
        )
  }
}
