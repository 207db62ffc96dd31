import { afterAll, beforeAll, describe, it } from 'vitest'
import { backupContract } from '../../contracts/transfer/backups'
import { type Place, startPlace } from '../../contracts/transfer/place'
import { playRoundTrip } from '../../contracts/transfer/round-trip'

/** Random stores, each moved into the other database and back out of it; TRANSFER_SEED names the first of their seeds. */
const FIRST = Number(process.env.TRANSFER_SEED ?? 100)

let [d1, postgres]: Place[] = []
beforeAll(async () => {
  const roomy = { MAX_ENTRIES_PER_ORG: '0' }
  ;[d1, postgres] = await Promise.all([startPlace('d1', roomy), startPlace('postgresql', roomy)])
})
afterAll(() => Promise.all([d1?.stop(), postgres?.stop()]))

const there = (place: Place | undefined): Place => {
  if (place === undefined) throw new Error('the server has started')
  return place
}

// Before anything else comes into the deployment that has to be empty.
describe('a backup of PostgreSQL', () =>
  backupContract(
    () => there(postgres),
    () => there(d1),
  ))

for (const [i, steps] of [60, 60, 60, 150, 400].entries()) {
  it(`moves ${steps} random steps to PostgreSQL line by line (seed ${FIRST + i})`, () =>
    playRoundTrip(there(d1), there(postgres), FIRST + i, steps))
  it(`moves ${steps} random steps to D1 line by line (seed ${FIRST + i})`, () =>
    playRoundTrip(there(postgres), there(d1), FIRST + i, steps))
}
