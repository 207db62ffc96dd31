import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PRICES } from '../../src/domain/cost'

/**
 * docs/deploy.md: the calls of a day in the Free plan, from the counts of `npm run bench -- rows` in a store of 1,000
 * entries.
 */
const { freeDay, paid } = PRICES
const FREE = { read: freeDay.rowsRead, written: freeDay.rowsWritten, requests: freeDay.requests }
const [, small = ''] = /### 1,000 entries\n([\s\S]*?)\n### /.exec(readFileSync('bench/records/rows.md', 'utf8')) ?? []
const ROW = /^\| ([^|]+?) \| [\d.]+ \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|/gm
const ROWS = new Map([...small.matchAll(ROW)].map(([, name = '', ...cells]) => [name, cells]))
const number = (text = '0') => Number(text.replaceAll(',', ''))
const thousands = (n: number) => Math.floor(n).toLocaleString('en-US')

/** Names on the page, and in the record. */
const CALLS: Readonly<Record<string, string>> = {
  '`store_context`': 'store_context, two tags and one key',
  '`store_context_batch` of 100': 'store_context_batch of 100',
  '`remember`': 'remember',
  '`update_context`, text': 'update_context, text',
  '`update_context`, `metadata_patch`': 'update_context, metadata_patch',
  '`delete_context`, one': 'delete_context, one',
  '`search_context`, newest page': 'search_context, newest',
  '`fts_search_context`, three common words': 'fts_search_context, three common words',
  '`semantic_search_context`': 'semantic_search_context, three common words',
  '`hybrid_search_context`': 'hybrid_search_context, three common words',
  '`context`, three common words': 'context, three common words',
  'hook: a session starts': 'a hook, the start of a session',
  'hook: a prompt': 'a hook, a prompt',
  'hook: a use of a tool': 'a hook, a use of a tool',
  'hook: a turn is written': 'a hook, what a turn writes',
}
/** A captured session of one prompt and ten tool calls, each a request of its own. */
const SESSION: readonly (readonly [string, number])[] = [
  ['a hook, the start of a session', 1],
  ['a hook, a prompt', 1],
  ['a hook, a use of a tool', 10],
  ['a hook, what a turn writes', 1],
]
const aDay = (read: number, written: number, requests = 1) =>
  Math.min(FREE.read / Math.max(read, 1), FREE.written / Math.max(written, 0.01), FREE.requests / requests)

it('shows on docs/deploy.md how many calls and captured sessions a day fit the Free plan', () => {
  const lines = Object.entries(CALLS).map(([shown, name]) => {
    const [read = '', written = '', dollars = ''] = ROWS.get(name) ?? []
    return `| ${shown} | ${read} | ${written} | ${dollars} | ${thousands(aDay(number(read), number(written)))} |`
  })
  const sum = (cell: 0 | 1) => SESSION.reduce((all, [name, n]) => all + n * number(ROWS.get(name)?.[cell]), 0)
  const requests = SESSION.reduce((all, [, n]) => all + n, 0)
  const session = `| a captured session of one prompt and ten uses of tools | ${thousands(sum(0))} | ${thousands(sum(1))} | ${(
    (sum(0) * 0.001 + sum(1)) / 1e3 + requests * 0.0003
  ).toFixed(4)} | ${thousands(aDay(sum(0), sum(1), requests))} |`
  const page = readFileSync('docs/deploy.md', 'utf8')
  const [, table = ''] = /\| call \| rows read \| written \|[^\n]*\n\|[-|:]+\|\n((?:\|[^\n]*\n)+)/.exec(page) ?? []
  expect(table.trim().split('\n')).toEqual([...lines, session])
})

/** docs/cost.md: the day of a person, in calls of the table. */
const DAY: readonly (readonly [name: string, times: number])[] = [
  ['a hook, the start of a session', 3],
  ['a hook, a prompt', 3 * 10],
  ['a hook, a use of a tool', 3 * 60],
  ['a hook, what a turn writes', 3 * 10],
  ['store_context, two tags and one key', 20],
  ['hybrid_search_context, three common words', 20],
  ['context, three common words', 5],
]
const PEOPLE = 5
const WORKING_DAYS = 22
const PAID = { read: paid.included.rowsRead, written: paid.included.rowsWritten, requests: paid.included.requests }

it('shows on docs/cost.md which part of the plans five people use', () => {
  const sum = (of: (name: string) => number) => PEOPLE * DAY.reduce((all, [name, times]) => all + times * of(name), 0)
  const day = {
    read: sum((name) => number(ROWS.get(name)?.[0])),
    written: sum((name) => number(ROWS.get(name)?.[1])),
    requests: sum(() => 1),
  }
  const shares = (plan: Readonly<Record<keyof typeof FREE, number>>, days: number) =>
    (['read', 'written', 'requests'] as const)
      .map((what) => `${((100 * days * day[what]) / plan[what]).toFixed(1)} %`)
      .join(' | ')
  const page = readFileSync('docs/cost.md', 'utf8')
  expect(page).toContain(
    `| five people, a day | ${thousands(day.read)} | ${thousands(day.written)} | ${thousands(day.requests)} |`,
  )
  expect(page).toContain(`| of a day of the Free plan | ${shares(FREE, 1)} |`)
  expect(page).toContain(`| of a month of the Paid plan, 22 such days | ${shares(PAID, WORKING_DAYS)} |`)
})
