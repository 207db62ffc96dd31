import { sql } from 'drizzle-orm'
import { createSqlIndexMaintenance } from '../../adapters/sql/stores/search/index-maintenance'
import { createSqlExportStore } from '../../adapters/sql/stores/transfer/export-store'
import { createSqlImportStore } from '../../adapters/sql/stores/transfer/import-store'
import { Problem } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import { createAnalyzer, loadStemmer } from '../../domain/search/analysis'
import type { ImageStore } from '../../ports/image-store'
import { createExportOrg } from '../../services/transfer/export-org'
import { createImportVolume, type ImportVolume } from '../../services/transfer/import-volume'
import type { ImportReport } from '../../services/transfer/report'
import { compareOrg, type Difference } from './compare'
import type { Side } from './sides'

/** The reason why a copy cannot start, for the person at the terminal. */
export class CopyRefused extends Error {}

export interface CopyOptions {
  readonly org: string
  readonly from: Side
  readonly to: Side
  /** The source without its password, as the journal names it. */
  readonly source: string
  /** FTS_LANGUAGE of the target. */
  readonly language: string
  readonly progress: (step: string, done: number, total: number) => void
}

export interface CopyReport extends Difference {
  readonly equal: boolean
  /** Entries that the target refused, and why. */
  readonly problems: ImportReport['problems']
}

/** The state of a copy, in `settings` of the target. */
interface Journal {
  readonly from: string
  /** The place of the export after the last imported volume; null at its start. */
  readonly next: string | null
  readonly complete: boolean
}

const ENTRIES_A_VOLUME = 100
const KEY = 'copy'
const clock = { now: () => Date.now() }
/** A copy reads and writes all states that the source retains. */
const ALL_HISTORY = { days: 36_500, receiptHours: 24 }
const EVERYTHING = { project: null, after: null, history: true, vectors: true, images: false }
const UNBOUNDED = { each: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER }

/** Both Workers read one bucket, so every image counts as present and no bytes move. */
const IMAGES: ImageStore = {
  refusal: null,
  get: async () => new Uint8Array(),
  put: async () => {},
  delete: async () => {},
  list: async () => ({ objects: [], cursor: null }),
}

const wholeOrg = (org: string): Caller => ({
  ...{ org, projects: null, owner: null, isWhole: true, role: 'admin', agent: null },
  ...{ keyId: KEY, action: KEY, tool: null, changeId: crypto.randomUUID() },
})

/** Exports for this process alone: cursors and places need no seal. */
const exportsOf = ({ connection }: Side) =>
  createExportOrg({
    ...{ store: createSqlExportStore(connection, clock, { next: () => crypto.randomUUID() }), images: IMAGES, clock },
    cursors: async () => ({ seal: async (_, position) => String(position), open: async (_, text) => Number(text) }),
    places: async () => ({ seal: async (_, text) => text, open: async (_, text) => text }),
  })

function importsInto({ connection }: Side): ImportVolume {
  const { analyzer } = connection.dialect
  const terms = ALL_HISTORY
  const quotas = { entries: null, bytes: null }
  return createImportVolume({
    imports: createSqlImportStore(connection, { analyzer, clock, quotas, terms }),
    exports: createSqlExportStore(connection, clock, { next: () => crypto.randomUUID() }),
    ...{ images: IMAGES, spare: async () => null, entries: { imageRemovals: async () => [] }, limits: UNBOUNDED },
    // Vectors of every model are copied, and projects retain their names.
    ...{ generate: null, model: 'every', names: { each: async () => new Map(), give: async () => {} } },
    ...{ terms, clock },
  })
}

const nameOf = (org: string): string => `copy of ${org}`

const remember = ({ org, to }: CopyOptions, journal: Journal) =>
  to.connection.batch(
    [
      sql`INSERT INTO settings (name, value) VALUES (${nameOf(org)}, ${JSON.stringify(journal)})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ],
    { org },
  )

async function readJournal({ org, to, source }: CopyOptions): Promise<Journal> {
  const [rows, entries] = await to.connection.batch([
    sql`SELECT value FROM settings WHERE name = ${nameOf(org)}`,
    sql`SELECT id FROM entries WHERE org = ${org} LIMIT 1`,
  ])
  const value = rows?.[0]?.value as string | undefined
  if (value === undefined && entries?.length !== 0)
    throw new CopyRefused(
      `The target already holds entries of ${org} that no copy has written. Delete them, or use export and import.`,
    )
  const journal = value === undefined ? { from: source, next: null, complete: false } : (JSON.parse(value) as Journal)
  if (journal.from !== source)
    throw new CopyRefused(
      `The target holds a copy of ${org} from ${journal.from}. Continue from there, or delete its entries and the row ` +
        `'${nameOf(org)}' of its settings.`,
    )
  return journal
}

/** The target's Worker reads an index of one language only. */
async function refuseOtherLanguage({ to, language }: CopyOptions): Promise<void> {
  await loadStemmer(language)
  const index = createSqlIndexMaintenance(to.connection, createAnalyzer(language))
  if (!(await index.isCurrent()))
    throw new CopyRefused(
      `The target's search index is not written for FTS_LANGUAGE=${language}. Set the language of its Worker, or let ` +
        'its schedule finish the index.',
    )
  // Records the language in a database that is still empty.
  await index.rebuild(1)
}

const IDS_AT_ONCE = 5_000

/** Entries keep their IDs, so no entry of another organization in the target may have one of them. */
async function refuseTakenIds({ org, from, to }: CopyOptions): Promise<void> {
  for (let last = 0; ; ) {
    const [rows = []] = await from.connection.batch([
      sql`SELECT id FROM entries WHERE org = ${org} AND id > ${last} ORDER BY id LIMIT ${IDS_AT_ONCE}`,
    ])
    const ids = JSON.stringify(rows.map(({ id }) => Number(id)))
    const [taken] = await to.connection.batch([
      sql`SELECT id FROM entries WHERE org <> ${org}
        AND id IN (SELECT value FROM ${to.connection.dialect.jsonNumbers(sql`${ids}`)} AS ids) ORDER BY id LIMIT 1`,
    ])
    if (taken?.[0] !== undefined)
      throw new CopyRefused(
        `Entries keep their IDs, but ${taken[0].id} belongs to another org in the target. Copy into an empty database.`,
      )
    if (rows.length < IDS_AT_ONCE) return
    last = Number(rows.at(-1)?.id)
  }
}

const countOf = async ({ connection }: Side, org: string): Promise<number> => {
  const [rows] = await connection.batch([sql`SELECT count(*) AS n FROM entries WHERE org = ${org}`])
  return Number(rows?.[0]?.n)
}

/**
 * Exports one volume after the other and imports each.
 *
 * @param place where an earlier export stopped
 * @returns the cursor of the export and what the target refused
 */
async function move(
  options: CopyOptions,
  request: { readonly after: string | null },
  place: string | null,
  onVolume: (next: string | null) => Promise<void>,
) {
  const { org } = options
  const [exports, imports, caller] = [exportsOf(options.from), importsInto(options.to), wholeOrg(org)]
  const begin = () => exports.begin(caller, KEY, { ...EVERYTHING, ...request })
  const problems: ImportReport['problems'] = []
  // A place is valid for a day. A new export finds what was imported before, and leaves it as it is.
  let going = place === null ? await begin() : await exports.resume(caller, KEY, place).catch(begin)
  for (;;) {
    let next: string | null = null
    const volume: Uint8Array[] = []
    for await (const part of exports.parts(caller, going, { limit: ENTRIES_A_VOLUME, volumes: 1 })) {
      if ('bytes' in part) volume.push(part.bytes)
      else next = part.next
    }
    const chunks = async function* () {
      yield* volume
    }
    const report = await imports(caller, chunks(), { onConflict: 'replace', dryRun: false, keepsIds: true })
    problems.push(...report.problems)
    const [other] = report.map ?? []
    if (other !== undefined)
      throw new CopyRefused(`Entry ${other[0]} got the ID ${other[1]}, because the target has used ${other[0]} before.`)
    await onVolume(next)
    if (next === null) return { cursor: String(going.cursor), problems }
    going = await exports.resume(caller, KEY, next)
  }
}

/**
 * Copies an organization with its IDs, links, states and vectors, and compares both sides. A copy that was stopped continues after
 * its last volume. A complete one is only compared.
 *
 * @throws CopyRefused when it cannot start
 */
export async function copyOrg(options: CopyOptions): Promise<CopyReport> {
  const { org, from, to, source, progress } = options
  const journal = await readJournal(options)
  const problems: ImportReport['problems'] = []
  if (!journal.complete) {
    await refuseOtherLanguage(options)
    await refuseTakenIds(options)
    const total = await countOf(from, org)
    const show = async () => progress('copied', Math.min(await countOf(to, org), total), total)
    if (journal.next !== null) await show()
    const first = await move(options, { after: null }, journal.next, async (next) => {
      await remember(options, { from: source, next, complete: false })
      await show()
    })
    // Changes that were made in the source meanwhile.
    const changes = await move(options, { after: first.cursor }, null, async () => {}).catch(skipStale)
    problems.push(...first.problems, ...(changes?.problems ?? []))
    const [[highest]] = (await from.connection.batch([from.highestId])) as [[{ id: number }]]
    await to.connection.batch([...to.connection.dialect.entryIds.raise(Number(highest.id)), ...to.analyze], 'all')
  }
  const difference = await compareOrg(org, [from, to], (done, total) => progress('compared', done, total))
  const equal = difference.from.hash === difference.to.hash
  if (equal && !journal.complete) await remember(options, { from: source, next: null, complete: true })
  return { ...difference, equal, problems }
}

/** Without the change log of the first export, the comparison finds what has changed. */
function skipStale(error: unknown): null {
  if (error instanceof Problem && error.code === 'invalid_input') return null
  throw error
}
