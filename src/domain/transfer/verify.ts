import { ContentSum, KnownIds } from './content-checksum'
import { lineError } from './lines'
import type { Counts, RecordOf } from './records'
import { readVolumes } from './volume-reader'

export interface Verified {
  readonly volumes: readonly {
    readonly volume: number
    readonly counts: Counts
    readonly content: string
    /** Computed from the entries; equal to `content` in a valid export. */
    readonly computed: string
    readonly line: number
  }[]
  /** Totals of all volumes. */
  readonly counts: Record<string, number>
  readonly content: string
  /** Number of entries and their `content`, by thread. */
  readonly threads: ReadonlyMap<string, { readonly entries: number; readonly content: string }>
}

/**
 * Checks all volumes of an export, including `content`. The export is read twice, because entries can refer to later
 * ones.
 * @param open starts a pass over the bytes
 * @throws Problem that names the line of the first fault
 */
export async function verifyExport(open: () => AsyncIterable<Uint8Array>): Promise<Verified> {
  const known = new KnownIds()
  const entries = new Set<string>()
  let manifest: RecordOf<'manifest'> | null = null
  for await (const { record, line } of readVolumes(open())) {
    if (record.record === 'manifest') manifest = follows(manifest, record, line)
    if (record.record === 'image' && record.missing === true) known.noteMissing(record.sha256)
    if (record.record !== 'entry') continue
    if (entries.has(String(record.id))) throw lineError(line, `entry ${record.id} is already in an earlier volume`)
    entries.add(String(record.id))
    known.note(record)
  }
  return sumUp(open, known)
}

/** Checks that volumes belong to one export and are in order. @throws Problem */
function follows(before: RecordOf<'manifest'> | null, manifest: RecordOf<'manifest'>, line: number) {
  if (before === null) return manifest
  if (manifest.store !== before.store || manifest.org !== before.org)
    throw lineError(line, 'is the manifest of another export than the volume before')
  if (manifest.volume !== before.volume + 1)
    throw lineError(line, `is volume ${manifest.volume}, but the volume before it is volume ${before.volume}`)
  return manifest
}

async function sumUp(open: () => AsyncIterable<Uint8Array>, known: KnownIds): Promise<Verified> {
  const volumes: Verified['volumes'][number][] = []
  const counts: Record<string, number> = {}
  const threads = new Map<string, { entries: number; sum: ContentSum }>()
  const all = new ContentSum()
  let sum = new ContentSum()
  for await (const { record, line, volume } of readVolumes(open())) {
    if (record.record === 'end') {
      for (const [name, n] of Object.entries(record.counts)) counts[name] = (counts[name] ?? 0) + (n ?? 0)
      volumes.push({ volume, counts: record.counts, content: record.content, computed: sum.text, line })
      sum = new ContentSum()
    }
    if (record.record !== 'entry') continue
    const one = new ContentSum()
    one.add(record, known)
    const thread = threads.get(record.thread_id) ?? { entries: 0, sum: new ContentSum() }
    for (const total of [sum, all, thread.sum]) total.addSum(one)
    thread.entries++
    threads.set(record.thread_id, thread)
  }
  const contents = [...threads].map(([id, { entries, sum }]) => [id, { entries, content: sum.text }] as const)
  return { volumes, counts, content: all.text, threads: new Map(contents) }
}
