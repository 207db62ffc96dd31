import { afterAll, beforeAll, describe, it } from 'vitest'
import { sendAtOnce, warnOfTexts } from '../contracts/transfer/importing'
import { markdownContract } from '../contracts/transfer/markdown'
import { type Place, startPlace } from '../contracts/transfer/place'
import { playRoundTrip } from '../contracts/transfer/round-trip'

/** Moves from one database to the other. Rights on PostgreSQL, and export and import call by call: test/nightly. */
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
    playRoundTrip(there(d1), there(postgres), 7, 25))
  it('is the same on D1, line by line, with its history, vectors and images', () =>
    playRoundTrip(there(postgres), there(d1), 8, 25))
})

describe('an import', () => {
  it('stores each entry once where the same volume is sent several times at once', () => sendAtOnce(there(postgres)))
  it('names the entries with secrets and those that address an agent, at most a hundred', async () => {
    const redacting = await startPlace('postgresql', { REDACT: 'always' })
    await warnOfTexts(there(postgres), redacting)
    await redacting.stop()
  })
})

describe('a folder of Markdown files', () => markdownContract(() => there(postgres)))
