import { afterAll, beforeAll, describe } from 'vitest'
import { backupContract } from '../contracts/transfer/backups'
import { type Place, startPlace } from '../contracts/transfer/place'

/** Backups of D1, restored into an empty deployment. */
let [from, empty]: Place[] = []
beforeAll(async () => {
  ;[from, empty] = await Promise.all([startPlace('d1'), startPlace('d1')])
})
afterAll(() => Promise.all([from?.stop(), empty?.stop()]))

const there = (place: Place | undefined): Place => {
  if (place === undefined) throw new Error('the server has started')
  return place
}

describe('a backup', () =>
  backupContract(
    () => there(from),
    () => there(empty),
  ))
