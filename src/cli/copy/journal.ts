// Records the progress of a copy in the target's `settings`, in the same batch as the copied rows, and checks whether it may start.
import { type SQL, sql } from 'drizzle-orm'
import { createSqlIndexMaintenance } from '../../adapters/sql/stores/search/index-maintenance'
import { createAnalyzer } from '../../domain/search/analysis'
import { WITHOUT_REST } from '../../domain/yielder'
import { type EntrySize, idList, type Side } from './side'

export interface Journal {
  /** The source of the entries, without a password. */
  readonly from: string
  /** Entries up to this id were copied. */
  readonly upTo: number
  readonly complete: boolean
}

/** A copy that cannot start; the message is for the user. */
export class CopyRefused extends Error {}

const nameOf = (org: string): string => `copy of ${org}`

export const remember = (org: string, journal: Journal): SQL =>
  sql`INSERT INTO settings (name, value) VALUES (${nameOf(org)}, ${JSON.stringify(journal)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** Reads the progress of an earlier copy; entries in a target without a journal belong to someone else. */
export async function readJournal({ connection }: Side, org: string, from: string): Promise<Journal> {
  const [rows, entries] = await connection.batch([
    sql`SELECT value FROM settings WHERE name = ${nameOf(org)}`,
    sql`SELECT id FROM entries WHERE org = ${org} LIMIT 1`,
  ])
  const value = rows?.[0]?.value as string | undefined
  if (value === undefined && entries?.length !== 0)
    throw new CopyRefused(
      `The target already holds entries of ${org}, and they do not come from a copy; delete them first.`,
    )
  const journal = value === undefined ? { from, upTo: 0, complete: false } : (JSON.parse(value) as Journal)
  if (journal.from !== from)
    throw new CopyRefused(
      `The target holds a copy of ${org} from ${journal.from}; continue from that source, or delete its entries and the row ` +
        `'${nameOf(org)}' of its settings.`,
    )
  return journal
}

const IDS_AT_ONCE = 5000

/** Ids are preserved, because links, metadata and people refer to them; so the target must not use them for another organization. */
export async function refuseTakenIds(side: Side, org: string, entries: readonly EntrySize[]): Promise<void> {
  for (let i = 0; i < entries.length; i += IDS_AT_ONCE) {
    const ids = entries.slice(i, i + IDS_AT_ONCE).map(({ id }) => id)
    const [rows] = await side.connection.batch([
      sql`SELECT id FROM entries WHERE org <> ${org} AND id IN ${idList(side, ids)} ORDER BY id LIMIT 1`,
    ])
    const taken = rows?.[0]?.id
    if (taken !== undefined)
      throw new CopyRefused(
        `Entries keep their ids, but id ${taken} belongs to another organization in the target; copy into an empty database.`,
      )
  }
}

/** The index rows of a copy depend on FTS_LANGUAGE, which must be the language of the target's index. */
export async function refuseOtherLanguage({ connection }: Side, language: string): Promise<void> {
  const index = createSqlIndexMaintenance(connection, createAnalyzer(language), WITHOUT_REST)
  if (!(await index.isCurrent()))
    throw new CopyRefused(
      `The target's search index does not use FTS_LANGUAGE=${language}; set the language of its Worker, or let ` +
        'its schedule finish rebuilding the index.',
    )
  // Records the analysis of the index in a database that is still empty.
  await index.rebuild(1)
}
