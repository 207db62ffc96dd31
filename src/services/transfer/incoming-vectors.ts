import type { TextVector } from '../../domain/entry/entry'
import type { Caller } from '../../domain/identity/scope'
import type { RecordOf } from '../../domain/transfer/records'
import type { ImportStore, Remembered, TakenEntry } from '../../ports/import-store'
import type { Generate } from '../writing/entries/generate'
import { isUntouched } from './decide'

export interface VectorDependencies {
  readonly imports: Pick<ImportStore, 'withoutVectors'>
  /** Makes vectors where that needs no service; null where they are made behind. */
  readonly generate: Generate | null
  /** The model whose vectors are imported; `every` imports all vectors as they are, null (semantic search is off) none. */
  readonly model: { readonly key: string; readonly dimensions: number } | 'every' | null
}

type VectorRecord = RecordOf<'vector'>

/** Whether a packed vector is of so many numbers: `scale:base64`, a byte a number. */
function isVectorOf(data: string, dimensions: number): boolean {
  const base64 = data.slice(data.indexOf(':') + 1).replaceAll('=', '')
  return Math.floor((base64.length * 3) / 4) === dimensions
}

/** The vectors of the server's model, or of every model; null where there is none. */
export function vectorsOf({ model }: VectorDependencies, records: readonly VectorRecord[]): TextVector[] | null {
  if (model === null) return null
  const ofModel =
    model === 'every'
      ? records
      : records.filter((one) => one.model === model.key && isVectorOf(one.data, model.dimensions))
  if (ofModel.length === 0) return null
  return ofModel.map(({ model: key, chunk, start, length, data }) => ({ model: key, chunk, start, length, data }))
}

/** Vectors of entries whose file brings none: made here where that needs no service, else queued. */
export async function withVectors(
  { generate, model }: VectorDependencies,
  entries: readonly TakenEntry[],
): Promise<TakenEntry[]> {
  if (model === null || model === 'every') return [...entries]
  const bare = entries.filter(({ vectors }) => vectors === null)
  if (generate === null || bare.length === 0)
    return entries.map((one) => (one.vectors === null ? { ...one, queueVectors: true } : one))
  const texts = bare.map(({ entry }) => ({
    title: typeof entry.columns.title === 'string' ? entry.columns.title : null,
    text: entry.text,
    source: entry.columns.source === 'user' ? ('user' as const) : ('agent' as const),
  }))
  const made = await generate(texts, 'defer')
  const byId = new Map(bare.map(({ id }, i) => [id, made[i]?.vectors ?? null]))
  return entries.map((one) => {
    if (one.vectors !== null) return one
    const vectors = byId.get(one.id) ?? null
    return { ...one, vectors, queueVectors: vectors === null }
  })
}

/** Vectors of entries that came in an earlier volume or batch, and have none. */
export async function laterVectors(
  on: VectorDependencies,
  caller: Caller,
  records: ReadonlyMap<string, readonly VectorRecord[]>,
  given: { readonly known: ReadonlyMap<string, Remembered>; readonly taken: ReadonlySet<string>; readonly at: number },
) {
  if (on.model === null) return []
  const wanted = [...records].flatMap(([theirId, ofEntry]) => {
    const known = given.known.get(theirId)
    const vectors = vectorsOf(on, ofEntry)
    if (given.taken.has(theirId) || !known?.standing || known.standing.isReadOnly) return []
    if (vectors === null || !isUntouched(known, given.at)) return []
    return [{ id: known.entryId, version: known.standing.version, vectors }]
  })
  // A volume may end between two vectors of one entry; those that are stored stay.
  if (on.model === 'every') return wanted
  const ids = wanted.map(({ id }) => id)
  const bare = await on.imports.withoutVectors(caller, on.model.key, ids)
  return wanted.filter(({ id }) => bare.has(id))
}
