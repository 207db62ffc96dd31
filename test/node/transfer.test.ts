import { afterAll, beforeAll, describe, it } from 'vitest'
import { exportContract } from '../contracts/transfer/exporting'
import { importContract, warnOfTexts } from '../contracts/transfer/importing'
import { markdownContract } from '../contracts/transfer/markdown'
import { type Place, startPlace } from '../contracts/transfer/place'
import { transferRights } from '../contracts/transfer/rights'
import { DATABASE } from '../support/database'

/** Export and import over a real connection, on the database of this project. */
let place: Place
beforeAll(async () => {
  place = await startPlace(DATABASE)
})
afterAll(() => place.stop())

describe('an export', () => exportContract(() => place))
describe('an import', () => {
  importContract(() => place)
  it('names the entries with secrets and those that address an agent, at most a hundred', async () => {
    const redacting = await startPlace(DATABASE, { REDACT: 'always' })
    await warnOfTexts(place, redacting)
    await redacting.stop()
  })
})
describe('moving an org', () => transferRights(() => place))
describe('a folder of Markdown files', () => markdownContract(() => place))
