// Plans an import: counts and hashes by thread, notices, and the volumes, which are made on demand.
import { ContentSum } from '../../domain/transfer/content-checksum'
import type { Volume } from '../../domain/transfer/volume-writer'
import { writeVolumes } from '../../domain/transfer/volume-writer'
import type { ImportNotice } from './collector'
import { Packed } from './records'
import { type ReadOptions, readSource } from './sources'

export interface Plan {
  /** Whose ids: `<system>:<name>`. */
  readonly store: string
  readonly entries: number
  readonly images: number
  readonly links: number
  readonly threads: readonly { readonly thread_id: string; readonly entries: number; readonly content: string }[]
  /** Hash of all entries. */
  readonly content: string
  readonly refused: readonly ImportNotice[]
  /** Rows that were imported with changes. */
  readonly notes: readonly ImportNotice[]
  /** Number of rows left out on purpose, by kind. */
  readonly skipped: Readonly<Record<string, number>>
  /** Complete volumes of the format in order, to be sent one by one. One is in memory at a time. */
  readonly volumes: () => AsyncGenerator<Volume>
}

/**
 * Reads a source and plans its import.
 *
 * @param name distinguishes this store from others of the same system: a repeated import recognizes its entries
 * @param at when the file was made, ISO 8601
 * @throws SourceProblem if nothing of it can be read
 */
export async function planImport(
  source: string,
  path: string,
  { name, at, ...options }: ReadOptions & { readonly name: string; readonly at: string },
): Promise<Plan> {
  const collector = await readSource(source, path, options)
  const packed = new Packed(collector, options.projects)
  const threads = new Map<string, { entries: number; sum: ContentSum }>()
  const all = new ContentSum()
  const counts = { images: 0, links: 0 }
  for (const record of packed.records()) {
    if (record.record === 'image') counts.images++
    if (record.record !== 'entry') continue
    counts.links += record.links?.length ?? 0
    const thread = threads.get(record.thread_id) ?? { entries: 0, sum: new ContentSum() }
    thread.entries++
    const one = new ContentSum()
    one.add(record, packed.known)
    for (const sum of [all, thread.sum]) sum.addSum(one)
    threads.set(record.thread_id, thread)
  }
  const store = `${source}:${name}`
  return {
    store,
    entries: packed.entries,
    ...counts,
    threads: [...threads].map(([thread_id, { entries, sum }]) => ({ thread_id, entries, content: sum.text })),
    content: all.text,
    refused: collector.notices.filter(({ refused }) => refused),
    notes: collector.notices.filter(({ refused }) => !refused),
    skipped: Object.fromEntries(collector.skipped),
    volumes: () => writeVolumes({ store, at }, packed.records(), packed.known),
  }
}
