// How does an org move to another database? Page by page in order of id, then its links, then every entry is compared on both
// sides. A copy that was stopped goes on where it was; what changed behind its back is brought again before it is called complete.

import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { digestCounters, digestEntries, digestVersions } from './digest'
import { CopyRefused, type Journal, readJournal, refuseOtherLanguage, refuseTakenIds, remember } from './journal'
import { type EntrySize, listEntries, pagesOf, readColumns, type Side, type Table } from './side'
import { type Columns, copyEntries, copyLinks, copyVersions } from './write'

export interface CopyOptions {
  readonly org: string
  readonly from: Side
  readonly to: Side
  /** The source, as the journal names it. */
  readonly source: string
  readonly language: string
  readonly progress: (step: string, done: number, total: number) => void
}

export interface Totals {
  entries: number
  tags: number
  images: number
  links: number
  vectors: number
  /** Kept states of before. */
  versions: number
  threads: number
  hash: string
}

export interface Report {
  readonly from: Totals
  readonly to: Totals
  readonly missing: readonly number[]
  readonly different: readonly number[]
  /** In the target only. */
  readonly extra: readonly number[]
  readonly equal: boolean
}

/** Both sides have to keep the same of an entry: they are of one release. */
async function commonColumns(from: Side, to: Side): Promise<Columns> {
  const of = async (table: Table) => {
    const [ours, theirs] = await Promise.all([readColumns(from, table), readColumns(to, table)])
    if (ours.join() !== theirs.join())
      throw new CopyRefused('The two databases are of different releases; migrate both.')
    return ours
  }
  const numbered = async (table: Table) => (await of(table)).filter((column) => column !== 'id')
  return {
    entries: await of('entries'),
    vectors: await numbered('entry_vectors'),
    versions: await numbered('entry_versions'),
  }
}

const NOTHING: Totals = { entries: 0, tags: 0, images: 0, links: 0, vectors: 0, versions: 0, threads: 0, hash: '' }

async function compare({ org, from, to, progress }: CopyOptions, columns: Columns): Promise<Report> {
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

async function copyPages(options: CopyOptions, columns: Columns, journal: Journal): Promise<void> {
  const { org, from, to, source, progress } = options
  const entries = await listEntries(from, org, 0)
  const rest = entries.filter(({ id }) => id > journal.upTo)
  await refuseTakenIds(to, org, rest)
  let done = entries.length - rest.length
  if (done > 0) progress('copied', done, entries.length)
  for (const ids of pagesOf(rest)) {
    const upTo = ids.at(-1) as number
    await copyEntries(from, to, org, ids, columns, [remember(org, { from: source, upTo, complete: false })])
    done += ids.length
    progress('copied', done, entries.length)
  }
  for (const ids of pagesOf(entries.map(({ id }) => ({ id, bytes: 0 })))) await copyLinks(from, to, org, ids)
  await bringVersions(options, columns)
}

const bringVersions = ({ org, from, to, progress }: CopyOptions, columns: Columns): Promise<void> =>
  copyVersions(from, to, org, columns.versions, (done, total) => progress('versions copied', done, total))

/** Brings again what was changed in the source while it was copied. */
async function mend(options: CopyOptions, columns: Columns, ids: readonly number[]): Promise<void> {
  for (const page of pagesOf(ids.map((id) => ({ id, bytes: 0 }))))
    await copyEntries(options.from, options.to, options.org, page, columns, [])
  for (const page of pagesOf(await listEntries(options.from, options.org, 0)))
    await copyLinks(options.from, options.to, options.org, page)
  await bringVersions(options, columns)
}

/** Ids that were given once are given to nobody again, in the target too. */
async function advance({ from, to }: CopyOptions): Promise<void> {
  const [[highest]] = (await from.connection.batch([from.highestId])) as [[{ id: number }]]
  if (Number(highest.id) > 0) await to.connection.batch([to.advanceIds(Number(highest.id))], 'all')
}

/** Tells the planner what has come into the tables, which nobody else may do for a while. */
async function takeStock({ to }: CopyOptions): Promise<void> {
  if (to.backend === 'postgresql')
    await to.connection.batch([
      sql`ANALYZE entries, entries_fts, entry_tags, entry_vectors, entry_versions, thread_counters`,
    ])
}

/** @throws CopyRefused when it cannot begin */
export async function copyOrg(options: CopyOptions): Promise<Report> {
  const { org, from, to, source, language } = options
  const columns = await commonColumns(from, to)
  const journal = await readJournal(to, org, source)
  if (journal.complete) return compare(options, columns)
  await refuseOtherLanguage(to, language)
  await copyPages(options, columns, journal)
  await advance(options)
  await takeStock(options)
  let report = await compare(options, columns)
  if (!report.equal && report.extra.length === 0) {
    await mend(options, columns, [...report.missing, ...report.different])
    report = await compare(options, columns)
  }
  const upTo = (await listEntries(to, org, 0)).at(-1)?.id ?? 0
  if (report.equal) await to.connection.batch([remember(org, { from: source, upTo, complete: true })], { org })
  return report
}
