import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCounters, metricsText, noteRequest } from '../../src/http/measure'
import { ROOT } from '../support/build'

const RULES = 'deploy/prometheus/alerts.yml'
const RULE_TESTS = 'deploy/prometheus/alerts.test.yml'
const BOARD = 'deploy/grafana/commonplace.json'
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** Names of all metrics, from an answer that has each of them. */
function metrics(): Set<string> {
  const counters = createCounters()
  const tools = [['store_context', 'ok']] as const
  noteRequest(counters, 'mcp', 200, { tools, total: () => 5 } as unknown as Parameters<typeof noteRequest>[3])
  const counts = { requests: 1, calls: 1, failed: 0, entries: 1, rowsRead: 1, rowsWritten: 1, tokens: 1 }
  const work = { pending: 1, failed: 0 }
  const totals = { entries: 1, images: 1, entryBytes: 1, imageBytes: 1, kept: { versions: 1, bytes: 1 }, work }
  const text = metricsText(counters, {
    standing: { org: 'acme', totals: totals as never, vectors: 1 },
    ...{ bytes: 1, limit: 2 },
    usage: [{ ...counts, of: 'key_1', key: { name: 'ada', owner: 'ada' } }],
    expiring: new Map([[{ org: 'acme', id: 'key_1' }, 1]]),
  })
  return new Set([...text.matchAll(/^(commonplace_\w+)[{ ]/gm)].map(([, name]) => name as string))
}

const namesIn = (text: string) => new Set([...text.matchAll(/\bcommonplace_\w+/g)].map(([name]) => name))

it('[OPERATE-184] has alert rules and a Grafana dashboard of metrics that the server has', () => {
  const known = metrics()
  for (const file of [RULES, RULE_TESTS, BOARD]) {
    const names = [...namesIn(read(file))]
    expect(names.length).toBeGreaterThan(5)
    expect([file, names.filter((name) => !known.has(name))]).toEqual([file, []])
  }
})

it('[OPERATE-184] uses no rate of a counter, which belongs to an isolate, and each panel has one data source', () => {
  // Comments may name them.
  const rules = read(RULES).replaceAll(/^ *#.*$/gm, '')
  for (const text of [rules, read(BOARD)]) expect(text).not.toMatch(/\b(rate|irate|increase)\(/)
  const board = JSON.parse(read(BOARD))
  expect(new Set(board.panels.map(({ id }: { id: number }) => id)).size).toBe(board.panels.length)
  for (const { datasource } of board.panels) expect(datasource).toEqual({ type: 'prometheus', uid: `\${datasource}` })
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

it.skipIf(!hasPromtool)('[OPERATE-184] has rules that promtool accepts, and that fire as their tests state', () => {
  for (const args of [
    ['check', 'rules', RULES],
    ['test', 'rules', RULE_TESTS],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: ROOT, encoding: 'utf8' })
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
  }
})
