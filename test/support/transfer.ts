import { gunzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { KnownIds } from '../../src/domain/transfer/content-checksum'
import type { CarriedRecord, EntryRecord, RecordOf } from '../../src/domain/transfer/records'
import { verifyExport } from '../../src/domain/transfer/verify'
import { completeVolumes, readVolumes } from '../../src/domain/transfer/volume-reader'
import { writeVolumes } from '../../src/domain/transfer/volume-writer'
import { ADMIN_TOKEN, type Team } from './access'
import { base64, pngBytes } from './scope'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** Exports and imports of organizations over HTTP, like the command line. */
export interface Export {
  readonly bytes: Uint8Array
  readonly manifests: readonly RecordOf<'manifest'>[]
  readonly ends: readonly RecordOf<'end'>[]
  /** The records between manifest and end, as lines. */
  readonly lines: readonly string[]
  readonly records: readonly CarriedRecord[]
}

const streamed = async function* (bytes: Uint8Array) {
  yield bytes
}

export async function readExport(bytes: Uint8Array): Promise<Export> {
  const manifests: RecordOf<'manifest'>[] = []
  const ends: RecordOf<'end'>[] = []
  const lines: string[] = []
  const records: CarriedRecord[] = []
  for await (const { record, bytes: line } of readVolumes(streamed(bytes))) {
    if (record.record === 'manifest') manifests.push(record)
    else if (record.record === 'end') ends.push(record)
    else {
      lines.push(new TextDecoder().decode(line))
      records.push(record)
    }
  }
  return { bytes, manifests, ends, lines, records }
}

/** All volumes of an export, in as many requests as needed. */
export async function exported(team: Team, org: string, query = '', bearer: string = ADMIN_TOKEN): Promise<Export> {
  const parts: Uint8Array[] = []
  for (let from: string | null = ''; from !== null; ) {
    const path: string = `/api/v1/orgs/${org}/export?${from === '' ? query : `from=${from}`}`
    const response: Response = await fetch(new URL(path, team.server.url), {
      headers: { authorization: `Bearer ${bearer}` },
    })
    if (response.status !== 200) throw new Error(await response.text())
    const bytes: Uint8Array = new Uint8Array(await response.arrayBuffer())
    parts.push(bytes)
    from = (await readExport(bytes)).ends.at(-1)?.next ?? null
  }
  return readExport(Buffer.concat(parts))
}

/** Sends all volumes. @throws with the answer to the first that is refused */
export async function sent(
  team: Team,
  org: string,
  bytes: Uint8Array,
  query = '',
  bearer: string = ADMIN_TOKEN,
): Promise<Json[]> {
  const reports: Json[] = []
  for await (const volume of completeVolumes(streamed(bytes))) {
    const answer = await post(team, org, volume.bytes, query, bearer)
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    reports.push(answer.body)
  }
  return reports
}

export async function post(team: Team, org: string, bytes: Uint8Array, query = '', bearer: string = ADMIN_TOKEN) {
  const response = await fetch(new URL(`/api/v1/orgs/${org}/import?${query}`, team.server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/x-ndjson' },
    body: bytes as Uint8Array<ArrayBuffer>,
  })
  const body: Json = await response.json()
  return { status: response.status, body }
}

export const verified = (bytes: Uint8Array) => verifyExport(() => streamed(bytes))

/** A minimal record of an entry. */
export const told = (id: EntryRecord['id'], more: Partial<EntryRecord> = {}): EntryRecord => ({
  ...{ record: 'entry', id, thread_id: 't', source: 'user', text: `told ${id}`, version: 1 },
  created_at: '2026-10-05T08:00:00.000Z',
  updated_at: '2026-10-05T08:00:00.000Z',
  ...more,
})

/** Records as volumes of a store. @param at time of the export */
export async function volumesOf(
  records: readonly CarriedRecord[],
  { store = 'test:elsewhere', at = '2026-11-01T00:00:00.000Z' } = {},
): Promise<Uint8Array[]> {
  const known = new KnownIds()
  for (const record of records) {
    if (record.record === 'entry') known.note(record)
    if (record.record === 'image' && record.missing) known.noteMissing(record.sha256)
  }
  const volumes: Uint8Array[] = []
  for await (const { bytes } of writeVolumes({ store, at }, records, known)) volumes.push(bytes)
  return volumes
}

/** The same as a single volume. */
export async function volumeOf(...given: Parameters<typeof volumesOf>): Promise<Uint8Array> {
  const [volume, ...more] = await volumesOf(...given)
  if (volume === undefined || more.length > 0) throw new Error('the records do not fit into one volume')
  return volume
}

/** An open connection with a key. */
export async function agent(team: Team, key: string) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(team.server.url, { requestInit: { headers } }))
  return {
    async call(name: string, args: Record<string, unknown>): Promise<Json> {
      const { structuredContent, isError, content }: Json = await client.callTool({ name, arguments: args })
      if (isError) throw new Error(`${name}: ${content?.[0]?.text}`)
      return structuredContent
    },
    close: () => client.close(),
  }
}

export type Agent = Awaited<ReturnType<typeof agent>>

/** Random numbers of a seed, the same in every run. */
export function dice(seed: number) {
  let state = seed >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    next,
    below,
    one: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    chance: (p: number) => next() < p,
  }
}

export type Dice = ReturnType<typeof dice>

const WORDS = 'ferry harbour tide ledger mast rope anchor señal 潮 🚢 keel "quote" back\\slash tab\tend'.split(' ')

const sentence = (roll: Dice): string => Array.from({ length: 3 + roll.below(12) }, () => roll.one(WORDS)).join(' ')

/** Fills a store with random entries of all families in every state. */
export async function fillRandomly(team: Team, org: string, seed: number, steps: number): Promise<void> {
  const roll = dice(seed)
  await team.api('/orgs', ADMIN_TOKEN, 'POST', { id: org, name: org })
  await team.api(`/orgs/${org}/projects`, ADMIN_TOKEN, 'POST', { id: 'apollo', name: 'Apollo' })
  const keys = [
    await team.key(org, { name: 'ada', agent: 'ci-bot' }),
    await team.key(org, { name: 'bo' }),
    await team.key(org, { name: 'cy', projects: ['apollo'] }),
  ]
  const agents = await Promise.all(keys.map(({ key }) => agent(team, key)))
  const mine: number[][] = agents.map(() => [])
  const gone: number[][] = agents.map(() => [])
  try {
    for (let i = 0; i < steps; i++) {
      const who = roll.below(agents.length)
      const own = mine[who] as number[]
      const lost = gone[who] as number[]
      await step(agents[who] as Agent, roll, own, lost)
    }
  } finally {
    await Promise.all(agents.map((one) => one.close()))
  }
}

function metadataOf(roll: Dice, own: readonly number[]): Record<string, unknown> {
  const some = own.length > 0 ? roll.one(own) : null
  return {
    n: roll.one([1, 2.5, 9007199254740991, 1e20, -0.1]),
    nested: { z: [1, null, 'x'], a: { b: roll.chance(0.5) }, __proto__x: 1 },
    project: 'apollo',
    ...(roll.chance(0.3) ? { title: sentence(roll), kind: roll.one(['decision', 'note', 'task', 'nonsense']) } : {}),
    ...(roll.chance(0.2) ? { status: roll.one(['todo', 'doing', 'done']), assignee: 'bo' } : {}),
    ...(roll.chance(0.2) ? { audience: roll.one(['private', 'project', 'org']) } : {}),
    ...(roll.chance(0.2) ? { weight: 1 + roll.below(5), pinned: roll.chance(0.5), confidence: roll.next() } : {}),
    ...(roll.chance(0.1) ? { expires_at: '2031-01-01T00:00:00.500Z' } : {}),
    ...(some !== null && roll.chance(0.5) ? { supersedes: roll.one([some, String(some), [some]]) } : {}),
    ...(some !== null && roll.chance(0.4) ? { references: { context_ids: [some, String(some)], kept: true } } : {}),
  }
}

async function step(one: Agent, roll: Dice, own: number[], lost: number[]): Promise<void> {
  const metadata = metadataOf(roll, own)
  const what = own.length < 3 ? roll.below(4) : roll.below(10)
  const keep = (id: unknown) => own.push(Number(id))
  if (what === 0) {
    const images = roll.chance(0.4) ? [{ data: base64(pngBytes(String(roll.below(3)))), metadata: { page: 1 } }] : []
    const text = roll.chance(0.1) ? sentence(roll).repeat(900) : sentence(roll)
    const args = { thread_id: `t${roll.below(4)}`, source: roll.one(['user', 'agent']), text, metadata }
    const tags = roll.chance(0.5) ? ['Tag', roll.one(['a', 'gotcha'])] : []
    keep((await one.call('store_context', { ...args, tags, ...(images.length > 0 ? { images } : {}) })).context_id)
  } else if (what === 1) {
    const { id } = await one.call('context_store', {
      type: roll.one(['decision', 'bug_fix', 'scratchpad', 'convention']),
      content: sentence(roll),
      projectPath: 'apollo',
      layer: 1 + roll.below(3),
      ...(roll.chance(0.3) ? { pinned: true } : {}),
      metadata: { tags: ['fabric'], weight: 1 + roll.below(5) },
    })
    keep(id)
  } else if (what === 2 || what === 3) {
    const related =
      own.length > 0 && roll.chance(0.6) ? [`${roll.one(['supports', 'derived_from'])}:${roll.one(own)}`] : []
    const isDiary = roll.chance(0.2)
    const { id } = await one.call('remember', {
      ...{ title: sentence(roll), content: sentence(roll), project: 'apollo' },
      ...(isDiary
        ? { diary: true, agent_id: 'scribe' }
        : { kind: roll.one(['decision', 'rule', 'idea']), related_to: related }),
    })
    keep(id)
  } else if (what === 4 || what === 5) {
    const id = roll.one(own)
    const change = roll.one([
      { text: sentence(roll) },
      { metadata_patch: { n: 3, extra: { deep: [1] } } },
      { tags: ['new'] },
      { metadata },
    ])
    await one.call('update_context', { context_id: id, ...change })
  } else if (what === 6) {
    const [id] = own.splice(roll.below(own.length), 1)
    await one.call('delete_context', { context_ids: [id] })
    lost.push(id as number)
  } else if (what === 7 && lost.length > 0) {
    const [id] = lost.splice(roll.below(lost.length), 1)
    await one.call('restore_context', { context_ids: [id] })
    keep(id)
  } else if (what === 8) {
    await one.call('context_recall', { query: sentence(roll) }).catch(() => {})
  } else await one.call('context_promote', { id: String(roll.one(own)) }).catch(() => {})
}

export const unpacked = (bytes: Uint8Array): Uint8Array => gunzipSync(bytes)
