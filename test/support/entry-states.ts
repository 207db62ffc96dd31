import { sql } from 'drizzle-orm'
import { runSql } from './direct-sql'
import type { Key, World } from './isolation'

/**
 * Every state of an entry of ada's, and who can read and change it, implemented again in plain code (platform contract
 * §5).
 */
interface Version {
  readonly project: string | null
  readonly hidden: 'private' | 'diary' | null
}

export interface StateOfEntry {
  readonly name: string
  readonly versions: readonly Version[]
  readonly archived?: true
  /** As hooks create it; it is archived too. */
  readonly captured?: true
  /** Deleted, or hidden from all readers while its rows are removed after the call. */
  readonly deleted?: true | 'in parts'
  readonly expires?: true
}

const at = (project: string | null, hidden: Version['hidden'] = null): Version => ({ project, hidden })

export const STATES: readonly StateOfEntry[] = [
  { name: 'of a project', versions: [at('a'), at('a')] },
  { name: 'of the whole org', versions: [at(null), at(null)] },
  { name: 'of another project', versions: [at('c'), at('c')] },
  { name: 'private', versions: [at('a', 'private'), at('a', 'private')] },
  { name: 'of a diary', versions: [at('a', 'diary'), at('a', 'diary')] },
  { name: 'archived', versions: [at('a'), at('a')], archived: true },
  { name: 'captured', versions: [at('a'), at('a')], archived: true, captured: true },
  { name: 'captured, private', versions: [at('a', 'private'), at('a', 'private')], archived: true, captured: true },
  { name: 'captured, deleted', versions: [at('a'), at('a')], archived: true, captured: true, deleted: true },
  { name: 'expired', versions: [at('a'), at('a')], expires: true },
  { name: 'moved out of a project', versions: [at('a'), at('c')] },
  { name: 'moved out of every project', versions: [at('a'), at(null)] },
  { name: 'made private', versions: [at('a'), at('a', 'private')] },
  { name: 'made public', versions: [at('a', 'private'), at('a')] },
  { name: 'moved into a project', versions: [at('c'), at('a')] },
  { name: 'deleted', versions: [at('a'), at('a')], deleted: true },
  { name: 'of the whole org, deleted', versions: [at(null), at(null)], deleted: true },
  { name: 'of another project, deleted', versions: [at('c'), at('c')], deleted: true },
  { name: 'deleted after it was made private', versions: [at('a'), at('a', 'private')], deleted: true },
  { name: 'of a diary, deleted', versions: [at('a', 'diary'), at('a', 'diary')], deleted: true },
  { name: 'archived, deleted', versions: [at('a'), at('a')], archived: true, deleted: true },
  { name: 'deleted after it was moved', versions: [at('a'), at('c')], deleted: true },
  { name: 'being deleted', versions: [at('a'), at('a')], deleted: 'in parts' },
  { name: 'being deleted after it was made private', versions: [at('a'), at('a', 'private')], deleted: 'in parts' },
]

export const sees = (key: Key, org: string, { project, hidden }: Version): boolean =>
  key.org === org &&
  (key.projects === null || project === null || key.projects.includes(project)) &&
  (hidden === null || key.owner === 'ada')

const writes = (key: Key, org: string, version: Version): boolean =>
  key.role !== 'reader' &&
  sees(key, org, version) &&
  (key.projects === null || (version.project !== null && key.projects.includes(version.project)))

/** Actions that a caller may perform on an entry in a state. */
export function rights(key: Key, org: string, { versions, deleted, expires }: StateOfEntry) {
  const [first, last] = [versions[0] as Version, versions.at(-1) as Version]
  const stands = deleted === undefined && expires === undefined
  return {
    reads: stands && sees(key, org, last),
    changes: stands && writes(key, org, last),
    erases: writes(key, org, last),
    returns: deleted !== undefined && writes(key, org, last),
    /** Restores its first version. */
    reverts: expires === undefined && writes(key, org, last) && writes(key, org, first),
  }
}

export interface Made {
  readonly id: number
  readonly thread: string
  readonly text: string
  /** A word that only this version contains. */
  readonly secrets: readonly string[]
  readonly title: string
  /** Change ID of the call that deleted it. */
  readonly changeId: string | null
}

let made = 0

/** An entry in a state. */
export async function makeEntry(world: World, ada: Key, state: StateOfEntry): Promise<Made> {
  const n = ++made
  const [thread, title] = [`thread ${n}`, `secret${n}title`]
  const secrets = state.versions.map((_, i) => `secret${n}v${i + 1}x`)
  const textOf = (i: number) => `The harbour light ${secrets[i]} is broken`
  const metadataOf = ({ project, hidden }: Version) => ({
    ...(project === null ? {} : { project }),
    ...(hidden === 'private' ? { audience: 'private' } : {}),
    ...(hidden === 'diary' ? { diary: true, agent_name: 'scout' } : {}),
    ...(state.expires ? { expires_at: new Date(world.clock.now() + 1_500).toISOString() } : {}),
    ...{ kind: 'decision', title },
  })
  const [first, second] = state.versions as [Version, Version]
  const turn = { thread_id: thread, source: 'user', text: textOf(0), metadata: metadataOf(first) }
  const { context_id: id } = await world.ok(ada, 'store_context', turn)
  // Keys that the second version does not have are set to null, because reserved keys remain otherwise.
  const replaced = { project: null, audience: null, diary: null, agent_name: null, ...metadataOf(second) }
  await world.ok(ada, 'update_context', { context_id: id, text: textOf(1), metadata: replaced })
  if (state.archived) await runSql(sql`UPDATE entries SET archived = 1 WHERE id = ${id}`)
  if (state.captured) {
    const metadata = JSON.stringify({ ...metadataOf(second), captured: true })
    await runSql(sql`UPDATE entries SET captured = 1, metadata = ${metadata} WHERE id = ${id}`)
  }
  if (state.expires) world.clock.advance(2_000)
  let changeId: string | null = null
  if (state.deleted === true)
    changeId = (await world.ok(ada, 'delete_context', { context_ids: [id] })).change_id as string
  if (state.deleted === 'in parts') {
    changeId = `removing${n}`
    await runSql(sql`
      INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
      VALUES (${id}, ${ada.org}, 1, ${changeId}, ${ada.id}, NULL, ${world.clock.now()}, 1, 0)`)
  }
  return { id, thread, title, text: textOf(1), secrets, changeId }
}

/** All stored data of an entry, regardless of readers. */
export async function fingerprint(id: number): Promise<unknown> {
  const columns = sql.raw('version, text, metadata, tags, project, reader, archived, layer')
  const [newest] = await runSql(sql`
    SELECT ${columns} FROM entries WHERE id = ${id}
    UNION ALL SELECT ${columns} FROM entry_versions WHERE entry_id = ${id}
    ORDER BY version DESC LIMIT 1`)
  const [stands] = await runSql(sql`
    SELECT count(*) AS version FROM entries
    WHERE id = ${id} AND id NOT IN (SELECT entry_id FROM pending_deletes WHERE entry_id = ${id})`)
  return { ...newest, stands: stands?.version }
}
