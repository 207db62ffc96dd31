// Copies an organization to another database: page by page in order of id, then its links, then every entry is compared on both
// sides. A stopped copy continues where it was; entries that changed meanwhile are copied again before it is complete.

import { sql } from 'drizzle-orm'
import { type Compared, compare, type Report } from './compare'
import { CopyRefused, type Journal, readJournal, refuseOtherLanguage, refuseTakenIds, remember } from './journal'
import { listEntries, pagesOf, readColumns, type Side, type Table } from './side'
import { type Columns, copyEntries, copyLinks, copyVersions } from './write'

export interface CopyOptions extends Compared {
  /** The source, by the name in the journal. */
  readonly source: string
  readonly language: string
}

/** Both sides need the same columns, so they must be of the same release. */
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
    links: await of('links'),
    vectors: await numbered('entry_vectors'),
    versions: await numbered('entry_versions'),
  }
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
  for (const ids of pagesOf(entries.map(({ id }) => ({ id, bytes: 0 }))))
    await copyLinks(from, to, org, ids, columns.links)
  await bringVersions(options, columns)
}

const bringVersions = ({ org, from, to, progress }: CopyOptions, columns: Columns): Promise<void> =>
  copyVersions(from, to, org, columns.versions, (done, total) => progress('versions copied', done, total))

/** Copies entries again that changed in the source during the copy. */
async function mend(options: CopyOptions, columns: Columns, ids: readonly number[]): Promise<void> {
  for (const page of pagesOf(ids.map((id) => ({ id, bytes: 0 }))))
    await copyEntries(options.from, options.to, options.org, page, columns, [])
  for (const page of pagesOf(await listEntries(options.from, options.org, 0)))
    await copyLinks(options.from, options.to, options.org, page, columns.links)
  await bringVersions(options, columns)
}

/** Advances the target's sequence, so that it never reuses an id of the source. */
async function advance({ from, to }: CopyOptions): Promise<void> {
  const [[highest]] = (await from.connection.batch([from.highestId])) as [[{ id: number }]]
  if (Number(highest.id) > 0) await to.connection.batch([to.advanceIds(Number(highest.id))], 'all')
}

/** Updates the planner's statistics of the filled tables, which the database would do much later. */
async function analyzeTarget({ to }: CopyOptions): Promise<void> {
  if (to.backend === 'postgresql')
    await to.connection.batch([
      sql`ANALYZE entries, entries_fts, entry_tags, entry_vectors, entry_versions, thread_counters`,
    ])
}

/** @throws CopyRefused if it cannot start */
export async function copyOrg(options: CopyOptions): Promise<Report> {
  const { org, from, to, source, language } = options
  const columns = await commonColumns(from, to)
  const journal = await readJournal(to, org, source)
  if (journal.complete) return compare(options, columns)
  await refuseOtherLanguage(to, language)
  await copyPages(options, columns, journal)
  await advance(options)
  await analyzeTarget(options)
  let report = await compare(options, columns)
  if (!report.equal && report.extra.length === 0) {
    await mend(options, columns, [...report.missing, ...report.different])
    report = await compare(options, columns)
  }
  const upTo = (await listEntries(to, org, 0)).at(-1)?.id ?? 0
  if (report.equal) await to.connection.batch([remember(org, { from: source, upTo, complete: true })], { org })
  return report
}
