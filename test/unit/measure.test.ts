import { expect, it } from 'vitest'
import { createMeasure } from '../../src/http/measure'
import { createUsageCounter, type RequestUsage } from '../../src/services/people/usage'

const measured = () =>
  createMeasure(
    () => {},
    () => 0,
  )
const rows = (rowsRead: number, rowsWritten: number) => ({ statements: 1, rowsRead, rowsWritten, milliseconds: 1 })

it('[OPERATE-192] counts a request with its rows, and rows of its later work without another request', () => {
  const measure = measured()
  measure.asks({ org: 'acme', key: 'k', agent: null })
  measure.called('store_context', 'ok')
  measure.log('DEBUG', 'sql', rows(3, 4))
  const later: RequestUsage[] = []
  const usage = measure.usage('mcp', (more) => later.push(more))
  expect(usage).toMatchObject({ org: 'acme', keyId: 'k', requests: 1, calls: 1, rowsRead: 3, rowsWritten: 4 })
  measure.log('DEBUG', 'sql', rows(10, 20))
  expect(later).toEqual([
    {
      ...{ org: 'acme', keyId: 'k', project: null, requests: 0, calls: 0, failed: 0, entries: 0 },
      ...{ rowsRead: 10, rowsWritten: 20, recalls: 0, tokens: 0 },
    },
  ])
})

it('[OPERATE-192] counts a request without a key for the deployment, and a message that calls no tool as no call', () => {
  const listing = measured()
  listing.asks({ org: 'acme', key: 'k', agent: null })
  expect(listing.usage('mcp', () => {})).toMatchObject({ keyId: 'k', requests: 1, calls: 0 })
  expect(measured().usage('page', () => {})).toMatchObject({ org: '', keyId: '', requests: 1, calls: 0 })
})

it('[OPERATE-192] writes counts of requests without a call only together with a call', () => {
  const counter = createUsageCounter()
  const stranger = measured().usage('page', () => {})
  for (let i = 0; i < 3; i++) counter.note(stranger)
  expect(counter.due(0)).toBeNull()
  counter.note({ ...stranger, org: 'acme', keyId: 'k', calls: 1 })
  expect(counter.due(0)?.map(({ org, requests }) => [org, requests])).toEqual([
    ['', 3],
    ['acme', 1],
  ])
})
