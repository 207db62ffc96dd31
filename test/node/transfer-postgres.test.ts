import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Place, startPlace } from '../contracts/transfer/place'
import { transferRights } from '../contracts/transfer/rights'
import { playRoundTrip } from '../contracts/transfer/round-trip'

/** Moves from one database to the other, and who may move what of PostgreSQL. Export and import call by call there: test/nightly. */
let [d1, postgres]: Place[] = []
beforeAll(async () => {
  ;[d1, postgres] = await Promise.all([startPlace('d1'), startPlace('postgresql')])
})
afterAll(() => Promise.all([d1?.stop(), postgres?.stop()]))

const there = (place: Place | undefined): Place => {
  if (place === undefined) throw new Error('the server has started')
  return place
}

describe('an org that is moved', () => {
  it('is the same on PostgreSQL, line by line, with its history, vectors and images', () =>
    playRoundTrip(there(d1), there(postgres), 7, 40))
  it('is the same on D1, line by line, with its history, vectors and images', () =>
    playRoundTrip(there(postgres), there(d1), 8, 40))
})
describe('moving an org', () => transferRights(() => there(postgres)))
