import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Place, startPlace } from '../contracts/transfer/place'
import { findsWhatItKnew, SOURCES } from '../contracts/transfer/questions'

let place: Place
beforeAll(async () => {
  place = await startPlace('d1')
})
afterAll(() => place.stop())

it.each(SOURCES)('finds today what %s knew yesterday (%s, %s)', async (...source) => {
  await findsWhatItKnew(place, source)
  expect.hasAssertions()
})
