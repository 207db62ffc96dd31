import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ADMIN_TOKEN } from '../../support/access'
import { base64, pngBytes } from '../../support/scope'
import { exported, readExport, sent, verified } from '../../support/transfer'
import { entriesOf, goneOf, type Place } from './place'

const BEARER = { authorization: `Bearer ${ADMIN_TOKEN}` }

/** How an org goes out (docs/contracts/operate.md §2). @param at the server, once it runs */
export function exportContract(at: () => Place): void {
  const pathOf = (org: string, query: string) => `/api/v1/orgs/${org}/export?${query}`
  const ask = async (org: string, query: string, init: RequestInit = {}) => {
    const response = await fetch(new URL(pathOf(org, query), at().team.server.url), { headers: BEARER, ...init })
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
  }
  /** An org with five entries of one key, two of them linked. */
  async function five() {
    const org = await at().newOrg()
    const key = await at().team.key(org)
    const ada = await at().join(org, key)
    const ids: number[] = []
    for (let i = 0; i < 5; i++) {
      const images = i === 1 ? { images: [{ data: base64(pngBytes(org)) }] } : {}
      const metadata = i === 4 ? { supersedes: ids[0], project: 'apollo' } : {}
      const { context_id: id } = await ada.call('store_context', {
        ...{ thread_id: `t${i % 2}`, source: 'agent', text: `entry ${i}`, metadata, ...images },
      })
      ids.push(id)
    }
    return { org, ada, ids, key }
  }

  it('is sent in volumes of the requested number of entries, and continues after each of them', async () => {
    const { org, ids } = await five()
    const { response, bytes } = await ask(org, 'limit=2')
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      expect.stringMatching(/^application\/x-ndjson/),
      'no-store',
    ])
    const whole = await readExport(bytes)
    expect(whole.manifests.map(({ volume, org: named }) => [volume, named])).toEqual([1, 2, 3].map((n) => [n, org]))
    expect(whole.ends.map(({ counts, next }) => [counts.entry, next === undefined])).toEqual([
      [2, false],
      [2, false],
      [1, true],
    ])
    expect(entriesOf(whole.records).map(({ id }) => id)).toEqual(ids)
    expect((await verified(bytes)).volumes.every(({ content, computed }) => content === computed)).toBe(true)
    // A reader that lost its connection within the second volume continues after the first.
    const rest = await readExport((await ask(org, `limit=2&from=${whole.ends[0]?.next}`)).bytes)
    expect(rest.manifests).toEqual(whole.manifests.slice(1))
    expect(rest.lines).toEqual(
      whole.lines.filter(
        (line) => !line.includes('entry 0') && !line.includes('entry 1') && !line.startsWith('{"record":"image"'),
      ),
    )
    const other = await at().team.key(org, { role: 'admin' })
    for (const [bearer, from] of [
      [other.key, whole.ends[0]?.next],
      [ADMIN_TOKEN, 'x'.repeat(60)],
    ]) {
      const refused = await ask(org, `from=${from}`, { headers: { authorization: `Bearer ${bearer}` } })
      expect([refused.response.status, JSON.parse(new TextDecoder().decode(refused.bytes))]).toMatchObject([
        400,
        { error: { code: 'invalid_input', details: { resync_from: 'export' } } },
      ])
    }
  })

  it('answers HEAD without a body, ignores Range, and compresses for clients that accept it', async () => {
    const { org } = await five()
    const head = await ask(org, '', { method: 'HEAD' })
    expect([head.response.status, head.bytes.length, head.response.headers.get('content-type')]).toEqual([
      200,
      0,
      expect.stringMatching(/^application\/x-ndjson/),
    ])
    const plain = await ask(org, '', { headers: { ...BEARER, range: 'bytes=0-9', 'accept-encoding': 'identity' } })
    expect([plain.response.status, plain.response.headers.get('content-encoding')]).toEqual([200, null])
    const { lines } = await readExport(plain.bytes)
    expect(lines).toHaveLength(6)
    // fetch decompresses the body; the header and the lines show both.
    const packed = await ask(org, '', { headers: { ...BEARER, 'accept-encoding': 'br, gzip;q=0.5' } })
    expect(packed.response.headers.get('content-encoding')).toBe('gzip')
    const bytes = packed.bytes[0] === 0x1f ? gunzipSync(packed.bytes) : packed.bytes
    expect((await readExport(bytes)).lines).toEqual(lines)
    const refused = await ask(org, '', { headers: { ...BEARER, 'accept-encoding': 'gzip;q=0, br' } })
    expect(refused.response.headers.get('content-encoding')).toBeNull()
  })

  it('reports what is wrong with a request', async () => {
    const org = await at().newOrg()
    for (const [query, words] of [
      ['limit=0', 'limit must be a whole number from 1 to 1000'],
      ['limit=1001', 'limit must be'],
      ['history=maybe', 'history must be true or false'],
      ['projects=a', 'an export accepts: project,'],
      ['after=abc', 'Start a new export without after'],
    ]) {
      const { response, bytes } = await ask(org, query as string)
      expect([query, response.status, new TextDecoder().decode(bytes)]).toEqual([
        query,
        400,
        expect.stringContaining(words as string),
      ])
    }
  })

  it('holds one project, or no images, if requested', async () => {
    const { org, ids } = await five()
    const ofProject = await at().all(org, 'project=apollo')
    expect(
      entriesOf(ofProject.records).map(({ id, metadata, links }) => [id, metadata?.supersedes, links ?? []]),
    ).toEqual([
      // The entry that it supersedes is in no export of this project, but visible: the link is included.
      [ids[4], ids[0], [{ relation: 'supersedes', to: ids[0], origin: 'metadata' }]],
    ])
    expect(ofProject.manifests[0]?.project).toBe('apollo')
    const bare = await at().all(org, 'images=false')
    expect(bare.records.map(({ record }) => record)).toEqual(Array.from({ length: 5 }, () => 'entry'))
    expect((await verified(bare.bytes)).volumes.every(({ content, computed }) => content === computed)).toBe(true)
  })

  it('lists changes and deletions since a cursor, which update an earlier copy to the same state', async () => {
    const { org, ada, ids } = await five()
    const first = await at().all(org, 'history=true')
    const cursor = first.manifests[0]?.cursor as string
    const copy = await at().newOrg()
    await sent(at().team, copy, first.bytes)
    const nothing = await at().all(org, `after=${cursor}`)
    expect(nothing.lines).toEqual([])
    await ada.call('update_context', { context_id: ids[0], text: 'changed' })
    await ada.call('delete_context', { context_ids: [ids[1]] })
    await ada.call('update_context', { context_id: ids[2], metadata_patch: { audience: 'private' } })
    const { context_id: added } = await ada.call('store_context', {
      thread_id: 't9',
      source: 'user',
      text: 'added',
      metadata: { depends_on: [ids[3], String(ids[0])] },
    })
    const since = await at().all(org, `after=${cursor}&history=true`)
    expect(since.manifests[0]).toMatchObject({ after: cursor })
    expect(entriesOf(since.records).map(({ id }) => id)).toEqual([ids[0], ids[2], added])
    expect(goneOf(since.records)).toEqual([ids[1]])
    const [report] = await sent(at().team, copy, since.bytes)
    expect(report.entries).toMatchObject({ stored: 1, replaced: 2, deleted: 1, refused: 0, skipped: 0 })
    const [now, then] = [await at().all(org, ''), await at().all(copy, '')]
    expect(then.ends.map(({ content }) => content)).toEqual(now.ends.map(({ content }) => content))
    // For a reader who cannot see the private one, it is deleted.
    const other = await at().team.key(org, { role: 'admin' })
    const seen = await exported(at().team, org, `after=${cursor}`, other.key)
    expect(entriesOf(seen.records).map(({ id }) => id)).toEqual([ids[0], added])
    expect(goneOf(seen.records)).toEqual([ids[1], ids[2]])
    // Changes deleted from the log are only in a full export.
    const elsewhere = await at().newOrg()
    const forgotten = await ask(elsewhere, `after=${cursor}`)
    expect(forgotten.response.status).toBe(400)
    await at().sql(
      `INSERT INTO feed_retention (org, purged_seq) SELECT '${org}', max(seq) FROM changes WHERE org = '${org}'`,
    )
    const late = await ask(org, `after=${cursor}`)
    expect(JSON.parse(new TextDecoder().decode(late.bytes))).toMatchObject({
      error: { details: { resync_from: 'export' } },
    })
  })

  it('leaves out entries stored after its start, and includes them in the next one', async () => {
    const { org, ada, ids } = await five()
    const begun = await readExport((await ask(org, 'limit=2')).bytes)
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'late' })
    const rest = await readExport((await ask(org, `from=${begun.ends[0]?.next}`)).bytes)
    expect(entriesOf(rest.records).map(({ id }) => id)).toEqual(ids.slice(2))
    const later = await at().all(org, `after=${begun.manifests[0]?.cursor}`)
    expect(entriesOf(later.records).map(({ text }) => text)).toEqual(['late'])
  })
}
