import { expect, it } from 'vitest'
import { Pages } from '../../src/http/dashboard/parts/common'

it('[OPERATE-215] writes the numbers of a list with commas', () => {
  const url = new URL('http://own.invalid/search?offset=1200')
  const nav = String(Pages({ url, offset: 1_200, shown: 20, total: 10_000, size: 20 }))
  expect(nav).toContain('1,201–1,220 of 10,000')
})
