import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Place, startPlace } from '../../contracts/transfer/place'
import { findsWhatItKnew, MORE_SOURCES } from '../../contracts/transfer/questions'

/** Other layouts of the systems that test/node/import-questions.test.ts asks. */
let place: Place
beforeAll(async () => {
  place = await startPlace('d1')
})
afterAll(() => place.stop())

it.each(MORE_SOURCES)('finds today what %s knew yesterday (%s, %s)', async (...source) => {
  await findsWhatItKnew(place, source)
  expect.hasAssertions()
})
