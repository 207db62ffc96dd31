import { createHash } from 'node:crypto'
import { digestCounters, digestEntries, digestVersions } from './digest'
import type { Side } from './side'
import { type EntrySize, listEntries, pagesOf } from './side'
import type { Columns } from './write'

// Compares two databases: every entry of an organization page by page, then counters and retained versions.

/** The organization, both sides, and the progress callback. */
export interface Compared {
  readonly org: string
  readonly from: Side
  readonly to: Side
  readonly progress: (step: string, done: number, total: number) => void
}

export interface Totals {
  entries: number
  tags: number
  images: number
  links: number
  vectors: number
  /** Retained versions. */
  versions: number
  threads: number
  hash: string
}

export interface Report {
  readonly from: Totals
  readonly to: Totals
  readonly missing: readonly number[]
  readonly different: readonly number[]
  /** Only in the target. */
  readonly extra: readonly number[]
  readonly equal: boolean
}

const NOTHING: Totals = { entries: 0, tags: 0, images: 0, links: 0, vectors: 0, versions: 0, threads: 0, hash: '' }

export async function compare({ org, from, to, progress }: Compared, columns: Columns): Promise<Report> {
  const [ours, theirs] = [await listEntries(from, org, 0), await listEntries(to, org, 0)]
  const known = new Set(ours.map(({ id }) => id))
  const all: EntrySize[] = [...ours, ...theirs.filter(({ id }) => !known.has(id))].sort((a, b) => a.id - b.id)
  const totals = [{ ...NOTHING }, { ...NOTHING }] as const
  const hashes = [createHash('sha256'), createHash('sha256')] as const
  const lists = { missing: [] as number[], different: [] as number[], extra: [] as number[] }
  let done = 0
  for (const ids of pagesOf(all)) {
    const digests = await Promise.all([from, to].map((side) => digestEntries(side, org, ids, columns.entries)))
    for (const id of ids) {
      const [here, there] = digests.map((side) => side.get(id))
      for (const [i, digest] of [here, there].entries()) {
        if (digest === undefined) continue
        const total = totals[i] as Totals
        total.entries++
        for (const part of ['tags', 'images', 'links', 'vectors'] as const) total[part] += digest[part]
        hashes[i]?.update(`${id}:${digest.hash}\n`)
      }
      if (there === undefined) lists.missing.push(id)
      else if (here === undefined) lists.extra.push(id)
      else if (here.hash !== there.hash) lists.different.push(id)
    }
    done += ids.length
    progress('compared', done, all.length)
  }
  for (const [i, side] of [from, to].entries()) {
    const { threads, hash } = await digestCounters(side, org)
    const total = totals[i] as Totals
    const kept = await digestVersions(side, org, columns.versions)
    total.threads = threads
    total.versions = kept.versions
    total.hash = hashes[i]?.update(hash).update(kept.hash).digest('hex') ?? ''
  }
  return { from: totals[0], to: totals[1], ...lists, equal: totals[0].hash === totals[1].hash }
}
