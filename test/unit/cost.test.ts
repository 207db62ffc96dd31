import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BILLED, estimateCost, firstDayOf, PRICES } from '../../src/domain/cost'

const DAY_MS = 86_400_000
const NOVEMBER = Date.UTC(2026, 10, 1)
const FIRST = NOVEMBER / DAY_MS
const day = (offset: number, requests: number, rowsRead = 0, rowsWritten = 0) => ({
  ...{ day: FIRST + offset, requests, rowsRead, rowsWritten },
})

it('[OPERATE-191] computes the month from its days: what was used, and what the complete month costs at this rate', () => {
  // Ten days of thirty have passed.
  const now = NOVEMBER + 10 * DAY_MS
  const estimate = estimateCost([day(0, 1_000_000, 10_000_000_000, 20_000_000), day(9, 4_000_000)], now)
  expect(estimate.month).toBe('2026-11')
  expect(estimate.used).toEqual({ requests: 5_000_000, rowsRead: 10_000_000_000, rowsWritten: 20_000_000 })
  expect(estimate.expected).toEqual({ requests: 15_000_000, rowsRead: 30_000_000_000, rowsWritten: 60_000_000 })
  // 5 million requests, 5,000 million rows read and 10 million rows written more than the plan includes.
  expect(estimate.paid).toEqual({ plan: 5, requests: 1.5, rowsRead: 5, rowsWritten: 10, total: 21.5 })
})

it('[OPERATE-191] reports the largest part of a daily limit of the Free plan, today and on the busiest day', () => {
  const now = NOVEMBER + 2.5 * DAY_MS
  const estimate = estimateCost([day(0, 10, 5_500_000), day(1, 150_000), day(2, 1_000, 100_000, 30_000)], now)
  expect(estimate.today).toEqual({
    at: NOVEMBER + 2 * DAY_MS,
    part: { requests: 0.01, rowsRead: 0.02, rowsWritten: 0.3 },
    first: 'rowsWritten',
  })
  expect([estimate.busiest.at, estimate.busiest.first, estimate.daysOver]).toEqual([NOVEMBER + DAY_MS, 'requests', 2])
})

it('[OPERATE-191] expects no more than thirty times the first day, and nothing of an unused month', () => {
  const estimate = estimateCost([day(0, 100)], NOVEMBER + 60_000)
  expect(estimate.expected.requests).toBe(3_000)
  const unused = estimateCost([], NOVEMBER)
  expect([unused.paid.total, unused.today.part.requests, unused.busiest.at]).toEqual([5, 0, NOVEMBER])
  expect([firstDayOf(NOVEMBER - 1), firstDayOf(NOVEMBER)]).toEqual([FIRST - 31, FIRST])
})

it('[OPERATE-191] uses the prices that docs/cost.md and docs/deploy.md quote', () => {
  const [cost, deploy] = ['docs/cost.md', 'docs/deploy.md'].map((file) =>
    readFileSync(file, 'utf8').replaceAll('\n', ' '),
  )
  const number = (value: number) => value.toLocaleString('en-US')
  const { freeDay, paid, readIn } = PRICES
  for (const [name, words] of [
    ['requests', 'requests'],
    ['rowsRead', 'rows read'],
    ['rowsWritten', 'rows written'],
  ] as const) {
    const price = paid.million[name] < 0.01 ? String(paid.million[name]) : paid.million[name].toFixed(2)
    expect(cost).toContain(`| ${words} | ${number(freeDay[name])} | ${number(paid.included[name])} | $${price} |`)
  }
  expect(cost).toContain(`price lists of ${readIn}`)
  expect(cost).toContain(`($${paid.month} a month for the complete account)`)
  expect(deploy).toContain(
    `includes ${number(freeDay.rowsRead)} rows read, ${number(freeDay.rowsWritten)} rows written and ${number(freeDay.requests)} requests a day`,
  )
  expect(deploy).toContain(
    `($${paid.month} a month) includes ${number(paid.included.rowsRead)} rows read and ${number(paid.included.rowsWritten)} rows written a month`,
  )
  expect(deploy).toContain(
    `($${paid.million.rowsRead} for a million rows read, $${paid.million.rowsWritten} for a million rows written, $${paid.million.requests.toFixed(2)} for a million requests)`,
  )
  expect(BILLED).toHaveLength(3)
})
