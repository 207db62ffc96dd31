import { expect, it } from 'vitest'
import { digestOf } from '../../src/domain/receipts/arguments-digest'
import type { Receipt } from '../../src/domain/receipts/receipt'
import { executeOnce } from '../../src/tools/idempotency'
import { keyedCall } from '../support/keyed'
import { freshPrincipal } from '../support/scope'

const principal = freshPrincipal()
const never = async (): Promise<never> => {
  throw new Error('the call is carried out again')
}

/** A repeated call whose receipt has this answer. */
async function again(answer: unknown) {
  const call = { key: 'k', digest: await digestOf({}), tool: principal.action, changeId: 'first', erased: false }
  const receipt: Receipt = { ...call, answer, effect: [], changes: 1, output: {}, notes: {}, text: null }
  const services = { receipts: { find: async () => receipt, complete: never } }
  const { result } = await executeOnce(
    { principal, services, key: 'k', args: {}, findsReceiptFirst: true },
    keyedCall(never, () => ({ from: 'the receipt' })),
  )
  return result
}

it('answers a call made again with the stored answer, else from what its batch has kept', async () => {
  expect(await again({ result: { id: 7 } })).toEqual({ id: 7, replayed: true })
  expect(await again(null)).toEqual({ from: 'the receipt', replayed: true })
})

it('refuses a call made again whose answer an earlier release has kept in another form, and does nothing', async () => {
  await expect(again({ id: 7 })).rejects.toMatchObject({ code: 'conflict', retryable: false })
})
