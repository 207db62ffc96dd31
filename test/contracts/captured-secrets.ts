import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createFakeAi } from '../fakes/workers-ai'
import { onPostgres, runSql } from '../support/direct-sql'
import { claudeCode } from '../support/hook-events'
import { type Json, openWorld } from '../support/isolation'
import { POSITIVES } from '../support/secret-samples'

const PROJECT = 'github.com/acme/ferry'
/** Few enough that each is written: three prompts of a session are stored. */
const A_SESSION = 3

/** Everything that the database holds, terms of its indexes too. */
async function everythingStored(): Promise<string> {
  if (onPostgres()) {
    const tables = await runSql(sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`)
    const all: string[] = []
    for (const { name } of tables)
      for (const { row } of await runSql(sql`SELECT CAST(t AS TEXT) AS "row" FROM ${sql.raw(`"${String(name)}"`)} t`))
        all.push(String(row))
    return all.join('\n')
  }
  const tables = await runSql(sql`
    SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%\_fts\_%' ESCAPE '\\'
      AND name NOT LIKE '\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\\'`)
  const all: string[] = []
  for (const { name } of tables)
    all.push(JSON.stringify(await runSql(sql`SELECT * FROM ${sql.raw(`"${String(name)}"`)}`)))
  const terms = await runSql(sql`SELECT DISTINCT term FROM entries_words`)
  return [...all, ...terms.map(({ term }) => String(term))].join('\n')
}

/** Searches for a secret in JSON, and in an index that has split its words. */
const tracesOf = (secret: string): string[] => {
  const words = secret.toLowerCase().match(/[a-z0-9]{12,}/g) ?? []
  return [secret, JSON.stringify(secret).slice(1, -1), ...words.filter((word) => /\d/.test(word))]
}

/**
 * No secret that a session holds is found in the database, in an index, with a model, in a log line or in an answer (capture contract §7).
 *
 * @param oneOf captures one of this many of the made-up secrets
 */
export function capturedSecrets(oneOf: number): void {
  it('add no secret to the database, an index, a model, a log line or an answer, and nothing private or recalled', async () => {
    const ai = createFakeAi()
    const lines: string[] = []
    const answers: string[] = []
    const world = openWorld(
      { EMBEDDING_PROVIDER: 'workers-ai', EMBEDDING_MODEL: 'fake', EMBEDDING_DIM: '8', HISTORY_DAYS: '30' },
      undefined,
      {
        bindings: { AI: ai },
        log: (level, event, fields) => void lines.push(JSON.stringify([level, event, fields])),
      },
    )
    const ada = await world.makeOrg('secrets')
    const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
      const { status, json, body: text, headers } = await world.http(ada.secret, method, path, body)
      answers.push(text, headers)
      expect([path, status < 300, text]).toEqual([path, true, text])
      return json
    }
    const call = async (tool: string, args: object): Promise<Json> => {
      const params = { name: tool, arguments: args }
      const { result } = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      expect([tool, result.isError ?? false, result.structuredContent]).toEqual([tool, false, result.structuredContent])
      return result.structuredContent
    }

    const secrets = POSITIVES.filter((_, i) => i % oneOf === 0)
    expect(secrets.length).toBeGreaterThanOrEqual(200 / oneOf)
    const sessions = Math.ceil(secrets.length / A_SESSION)
    for (let i = 0; i < sessions; i++) {
      const texts = secrets.slice(A_SESSION * i, A_SESSION * (i + 1)).map(([text]) => text)
      const s = claudeCode(`secrets-${i}`)
      const start = s.start()
      const events = [
        start,
        ...texts.flatMap((text) => [
          s.prompt(`Fix the lamp: ${text}`),
          s.failed(`deploy ${text}`, `Exit code 1\n${text}`),
          s.ran(`deploy ${text}`),
          s.edit(`/home/ada/ferry/${text}.env`),
          s.stop(`We decided to use ${text}`),
        ]),
        s.prompt('a <private>topsecretword</private> b <commonplace-memory>recalledword'),
        s.end(),
      ]
      const place = {
        folder: `/home/ada/${texts[0]}`,
        remote: `https://u:${secrets[i]?.[1]}@github.com/acme/ferry`,
        branch: texts[1],
      }
      const body = {
        events: events.map((event, n) => ({ ...event, at: world.clock.now() - 1_000 * (99 - n), place })),
        answer: start.id,
      }
      await ask('POST', '/api/v1/hooks/claude-code', body)
      world.clock.advance(1_000)
    }
    await world.settle()

    // An approved session is embedded; a start, a prompt, a pack and each reading return its text.
    const { items } = await ask('GET', `/api/v1/orgs/-/captured?project=${encodeURIComponent(PROJECT)}&limit=100`)
    expect(items.length).toBe(sessions)
    for (const { id } of items.slice(0, -2))
      await ask('POST', `/api/v1/orgs/-/captured/${id}/keep`, { kind: 'decision' })
    await call('remember', {
      from: items.slice(-2).map(({ id }: Json) => String(id)),
      title: 'Lamps',
      kind: 'decision',
    })
    await world.services.schedule.run()
    await world.settle()
    const ids = items.map(({ id }: Json) => id)
    for (let from = 0; from < ids.length; from += 20)
      await call('get_context_by_ids', { context_ids: ids.slice(from, from + 20) })
    await call('list_changes', { after: 'start', limit: 200 })
    await call('context', { goal: 'which lamp do we use', project: PROJECT })
    await call('search_context', { metadata: { captured: true } })
    for (const tool of ['hybrid_search_context', 'fts_search_context', 'semantic_search_context'])
      expect([tool, (await call(tool, { query: 'fix the lamp', limit: 50 })).results.length > 0]).toEqual([tool, true])
    const s = claudeCode('asks')
    for (const event of [s.start(), s.prompt('which lamp do we use')]) {
      const place = { folder: '/home/ada/ferry', remote: 'git@github.com:acme/ferry.git', branch: 'main' }
      await ask('POST', '/api/v1/hooks/claude-code', {
        events: [{ ...event, at: world.clock.now(), place }],
        answer: event.id,
      })
    }
    await ask('GET', `/api/v1/orgs/${ada.org}/audit?limit=100`)

    const places: Record<string, string> = {
      database: await everythingStored(),
      model: JSON.stringify(ai.calls),
      log: lines.join('\n'),
      answers: answers.join('\n'),
    }
    for (const [name, text] of Object.entries(places)) {
      const low = text.toLowerCase()
      const found = secrets.filter(([, secret]) => tracesOf(secret).some((trace) => low.includes(trace.toLowerCase())))
      expect([name, found.map(([, , kind]) => kind)]).toEqual([name, []])
      expect([name, /topsecretword|recalledword/.test(text)]).toEqual([name, false])
      // The replacement of each secret is there, so each place was checked.
      if (name !== 'log') expect([name, text.includes('[redacted:')]).toEqual([name, true])
    }
    expect(lines.length).toBeGreaterThan(sessions)
  })
}
