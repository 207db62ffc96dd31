import { createHash } from 'node:crypto'
import { createSqlExportStore } from '../../adapters/sql/stores/transfer/export-store'
import { canonicalJson } from '../../domain/transfer/content-checksum'
import { createExportPages, START } from '../../services/transfer/export-org'
import type { Side } from './sides'

/** Counts of an organization in one database, and a hash of all its records. */
export interface Totals {
  entries: number
  tags: number
  images: number
  links: number
  vectors: number
  versions: number
  threads: number
  hash: string
}

export interface Difference {
  readonly from: Totals
  readonly to: Totals
  readonly missing: readonly number[]
  readonly different: readonly number[]
  /** Only in the target. */
  readonly extra: readonly number[]
}

const SELECTION = { until: Number.MAX_SAFE_INTEGER, after: null, project: null, history: true, vectors: true }
const ENTRIES_A_STEP = 1_000

/** Reads all records of an organization. A hash stands for the records of each ID; counters that reading changes do not count. */
async function readSide({ connection }: Side, org: string, progress: (done: number) => void) {
  const totals = { entries: 0, tags: 0, images: 0, links: 0, vectors: 0, versions: 0, threads: 0, hash: '' }
  const hashes = new Map<number, string>()
  const entries = new Set<number>()
  const threads = new Set<string>()
  const store = createSqlExportStore(connection, { now: () => Date.now() }, { next: () => crypto.randomUUID() })
  const scope = { org, projects: null, owner: null, isWhole: true } as const
  const pages = createExportPages({ store, images: { get: async () => null } }, scope, { ...SELECTION, images: false })
  for await (const { record, at } of pages.records(START)) {
    const counted = record.record === 'entry' ? { ...record, accessed_at: undefined, access_count: 0 } : record
    const hash = createHash('sha256').update(`${hashes.get(at.id) ?? ''}${canonicalJson(counted)}`)
    hashes.set(at.id, hash.digest('hex'))
    if (record.record === 'version') totals.versions++
    else if (record.record === 'vector') totals.vectors++
    else if (record.record === 'entry') {
      entries.add(at.id)
      threads.add(record.thread_id)
      totals.tags += record.tags?.length ?? 0
      totals.images += record.images?.length ?? 0
      totals.links += record.links?.length ?? 0
      if (entries.size % ENTRIES_A_STEP === 0) progress(entries.size)
    }
  }
  const all = createHash('sha256')
  for (const [id, hash] of hashes) all.update(`${id}:${hash}\n`)
  return {
    totals: { ...totals, entries: entries.size, threads: threads.size, hash: all.digest('hex') },
    hashes,
    entries,
  }
}

/** Compares all that an export holds of an organization, in two databases: entries, retained states, links and vectors. */
export async function compareOrg(
  org: string,
  [from, to]: readonly [Side, Side],
  progress: (done: number, total: number) => void,
): Promise<Difference> {
  const here = await readSide(from, org, (done) => progress(done, done))
  const there = await readSide(to, org, (done) => progress(Math.min(done, here.entries.size), here.entries.size))
  progress(here.entries.size, here.entries.size)
  const ids = [...new Set([...here.hashes.keys(), ...there.hashes.keys()])].sort((a, b) => a - b)
  const missing = ids.filter((id) => here.entries.has(id) && !there.entries.has(id))
  const extra = ids.filter((id) => there.entries.has(id) && !here.entries.has(id))
  const one = new Set([...missing, ...extra])
  const different = ids.filter((id) => !one.has(id) && here.hashes.get(id) !== there.hashes.get(id))
  return { from: here.totals, to: there.totals, missing, different, extra }
}
