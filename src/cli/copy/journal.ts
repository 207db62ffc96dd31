// How far has a copy come, and may it begin at all? Its state stands in the target's `settings`, written with what it speaks of.
import { type SQL, sql } from 'drizzle-orm'
import { createSqlIndexMaintenance } from '../../adapters/sql/stores/search/index-maintenance'
import { createAnalyzer } from '../../domain/search/analysis'
import { type EntrySize, idList, type Side } from './side'

export interface Journal {
  /** Where the entries come from, without a password. */
  readonly from: string
  /** Entries up to this id are copied. */
  readonly upTo: number
  readonly complete: boolean
}

/** Why a copy cannot begin; its message is all that a person needs. */
export class CopyRefused extends Error {}

const nameOf = (org: string): string => `copy of ${org}`

export const remember = (org: string, journal: Journal): SQL =>
  sql`INSERT INTO settings (name, value) VALUES (${nameOf(org)}, ${JSON.stringify(journal)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** What was copied before; a target that holds entries of the org without such a record is somebody's own. */
export async function readJournal({ connection }: Side, org: string, from: string): Promise<Journal> {
  const [rows, entries] = await connection.batch([
    sql`SELECT value FROM settings WHERE name = ${nameOf(org)}`,
    sql`SELECT id FROM entries WHERE org = ${org} LIMIT 1`,
  ])
  const value = rows?.[0]?.value as string | undefined
  if (value === undefined && entries?.length !== 0)
    throw new CopyRefused(
      `The target already holds entries of ${org}, and they were not brought by a copy; delete them first.`,
    )
  const journal = value === undefined ? { from, upTo: 0, complete: false } : (JSON.parse(value) as Journal)
  if (journal.from !== from)
    throw new CopyRefused(
      `The target holds a copy of ${org} from ${journal.from}; go on from there, or delete its entries and the row ` +
        `'${nameOf(org)}' of its settings.`,
    )
  return journal
}

const IDS_AT_ONCE = 5000

/** Ids are kept, because links, metadata and people name them; so none may belong to another org's entry. */
export async function refuseTakenIds(side: Side, org: string, entries: readonly EntrySize[]): Promise<void> {
  for (let i = 0; i < entries.length; i += IDS_AT_ONCE) {
    const ids = entries.slice(i, i + IDS_AT_ONCE).map(({ id }) => id)
    const [rows] = await side.connection.batch([
      sql`SELECT id FROM entries WHERE org <> ${org} AND id IN ${idList(side, ids)} ORDER BY id LIMIT 1`,
    ])
    const taken = rows?.[0]?.id
    if (taken !== undefined)
      throw new CopyRefused(
        `Entries keep their ids, but ${taken} belongs to another org in the target; copy into an empty database.`,
      )
  }
}

/** The index rows of a copy are written by FTS_LANGUAGE, which has to be the one that the rest of the index was written by. */
export async function refuseOtherLanguage({ connection }: Side, language: string): Promise<void> {
  const index = createSqlIndexMaintenance(connection, createAnalyzer(language))
  if (!(await index.isCurrent()))
    throw new CopyRefused(
      `The target's search index is not written for FTS_LANGUAGE=${language}; set the language of its Worker, or let ` +
        'its schedule finish the rewriting.',
    )
  // Records which analysis wrote the index, for a database that is empty as yet.
  await index.rebuild(1)
}
