import { DurableObject } from 'cloudflare:workers'
import type { Layer } from '../../domain/entry/entry'
import type { VectorRegion } from '../../domain/meaning/region'
import { fromBase64 } from '../../domain/meaning/vector'
import type { NearbyRequest, VectorChanges, VectorIndexState, VectorPlace } from '../../ports/vector-index'
import { type PlacedVector, type Scored, VectorScan } from './scan'

/** Vectors read in one go: some 20 ms of work. */
const LOADED_AT_ONCE = 2_000

/** Lets others have their turn, which a timer that is due at once does not. */
const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 1))

/** What is looked at, and who asks. */
interface Nearby {
  readonly layers: NearbyRequest['layers']
  readonly sight: { readonly project: string | null; readonly owner: string | null; readonly projects: string[] | null }
  readonly beside: Float64Array
}

/** A `VectorRegion` that can be sent. */
type Region = Omit<VectorRegion, 'layers' | 'projects'> & {
  readonly layers: Layer[] | null
  readonly projects: string[] | null
}

function standsIn({ layers, projectScope, project, projects, owner }: Region): (at: VectorPlace) => boolean {
  const open = projects && new Set(['', ...projects])
  return (at) =>
    (layers === null || layers.includes(at.layer)) &&
    (projectScope === null || at.layer === 3 || at.project === projectScope) &&
    (project === null || at.project === project) &&
    (at.reader === '' || at.reader === owner) &&
    (open === null || open.has(at.project))
}

/** A vector as it is kept; `layer` is null for what no list shows. */
interface Kept extends Record<string, SqlStorageValue> {
  id: number
  entry: number
  layer: number | null
  project: string
  reader: string
  data: ArrayBuffer
}

const placedVector = ({ id, entry, layer, project, reader, data }: Kept): PlacedVector => ({
  ...{ id, entryId: entry, values: new Int8Array(data) },
  place: layer === null ? null : { layer: layer as Layer, project, reader },
})

/** What another release has kept in a table of another shape is told by this, forgotten, and asked for again. */
const TABLE = `CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, layer INTEGER, project TEXT NOT NULL, reader TEXT NOT NULL, data BLOB NOT NULL
)`

/**
 * The vectors of one org and model: kept in the object's own SQLite, loaded into memory by the first search after it
 * wakes. Of entries it knows where they stand and no more; what it loses is sent again from the database.
 */
export class VectorObject extends DurableObject {
  private scan: VectorScan | null = null
  private loading: Promise<VectorScan> | null = null
  /** What has been read of it so far; null when that is of no use any more. */
  private partial: VectorScan | null = null
  /** As storage has it; null until it is asked for, and since it changed. */
  private progress: VectorIndexState | null = null

  constructor(state: DurableObjectState, env: never) {
    super(state, env)
    const { sql } = state.storage
    sql.exec('CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL)')
    const [known] = sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'vectors'").toArray()
    if (known?.sql !== TABLE) this.forget()
  }

  /** Begins anew, with nothing. */
  forget(): void {
    this.scan = null
    this.partial = null
    this.progress = null
    this.ctx.storage.transactionSync(() => {
      this.sql.exec('DROP TABLE IF EXISTS vectors')
      this.sql.exec('DELETE FROM progress')
      this.sql.exec(TABLE)
    })
  }

  private get sql(): SqlStorage {
    return this.ctx.storage.sql
  }

  state(): VectorIndexState {
    if (this.progress === null) {
      const rows = this.sql.exec<{ name: string; value: number }>('SELECT name, value FROM progress').toArray()
      const value = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
      this.progress = { addedUpTo: value('added'), removedUpTo: value('removed') }
    }
    return this.progress
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
          .exec<Kept>(
            'SELECT id, entry, layer, project, reader, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
            after,
            LOADED_AT_ONCE,
          )
          .toArray()
        for (const row of rows) scan.set(placedVector(row))
        after = rows.at(-1)?.id ?? after
        more = rows.length === LOADED_AT_ONCE
        if (more) await rest()
      }
      if (this.partial === scan) this.scan = scan
      this.partial = null
    }
  }

  /** Hits travel as two arrays of numbers: tens of thousands of small objects would be slow to send. */
  async search(
    dimensions: number,
    query: Int8Array,
    limit: number,
    region: Region | null = null,
  ): Promise<Scored & { upTo: number; cut: boolean }> {
    const scan = await this.load(dimensions)
    const { ids, cosines, of } = scan.nearest(query, limit, region === null ? undefined : standsIn(region))
    return { ids, cosines, upTo: this.state().addedUpTo, cut: of > ids.length }
  }

  /** The nearest entries of some places, and what is named. */
  async nearby(
    dimensions: number,
    query: Int8Array,
    { layers, sight, beside }: Nearby,
  ): Promise<Scored & { upTo: number }> {
    const scan = await this.load(dimensions)
    const { project, owner } = sight
    const projects = sight.projects && new Set(['', ...sight.projects])
    const found = layers.map(({ layer, most, least }) => {
      const stands = (at: VectorPlace): boolean =>
        at.layer === layer &&
        (layer === 3 || project === null || at.project === project) &&
        (at.reader === '' || at.reader === owner) &&
        (projects === null || projects.has(at.project))
      return scan.nearestEntries(query, stands, most, least)
    })
    const known = new Set(beside)
    const { ids: named, cosines: ofNamed } = scan.named(query, known)
    const ids = [...named]
    const cosines = [...ofNamed]
    for (const part of found)
      part.ids.forEach((id, i) => {
        if (known.has(id)) return
        ids.push(id)
        cosines.push(part.cosines[i] as number)
      })
    return { ids: Float64Array.from(ids), cosines: Float64Array.from(cosines), upTo: this.state().addedUpTo }
  }

  /** Storage and memory change together: a failure in between drops the memory, which is then loaded anew. */
  apply(_dimensions: number, changes: VectorChanges): void {
    const { added, addedUpTo, removed, removedUpTo } = changes
    this.progress = null
    const vectors = added.map(({ data, ...vector }): PlacedVector => ({ ...vector, values: fromBase64(data).values }))
    try {
      this.ctx.storage.transactionSync(() => {
        for (const { id, entryId, place, values } of vectors)
          this.sql.exec(
            'INSERT OR REPLACE INTO vectors (id, entry, layer, project, reader, data) VALUES (?, ?, ?, ?, ?, ?)',
            ...[id, entryId, place?.layer ?? null, place?.project ?? '', place?.reader ?? ''],
            values.slice().buffer,
          )
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
      for (const vector of vectors) scan.set(vector)
      for (const id of removed) scan.delete(id)
    } catch (error) {
      this.scan = null
      this.partial = null
      throw error
    }
  }
}
