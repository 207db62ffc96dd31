import { afterAll, beforeAll, describe } from 'vitest'
import { exportContract } from '../../contracts/transfer/exporting'
import { importContract } from '../../contracts/transfer/importing'
import { type Place, startPlace } from '../../contracts/transfer/place'
import { transferRights } from '../../contracts/transfer/rights'

/** Export and import over a real connection, and who may move what, on PostgreSQL. */
let place: Place
beforeAll(async () => {
  place = await startPlace('postgresql')
})
afterAll(() => place.stop())

describe('an export', () => exportContract(() => place))
describe('an import', () => importContract(() => place))
describe('moving an org', () => transferRights(() => place))
