import { afterAll, beforeAll, describe } from 'vitest'
import { exportContract } from '../contracts/transfer/exporting'
import { importContract } from '../contracts/transfer/importing'
import { markdownContract } from '../contracts/transfer/markdown'
import { type Place, startPlace } from '../contracts/transfer/place'
import { transferRights } from '../contracts/transfer/rights'

/** Export and import over a real connection, on D1. */
let place: Place
beforeAll(async () => {
  place = await startPlace('d1')
})
afterAll(() => place.stop())

describe('an export', () => exportContract(() => place))
describe('an import', () => importContract(() => place))
describe('moving an org', () => transferRights(() => place))
describe('a folder of Markdown files', () => markdownContract(() => place))
