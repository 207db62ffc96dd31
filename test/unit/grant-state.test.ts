import { expect, it, vi } from 'vitest'
import { GrantState, LEASE_MS, SAME_SUCCESSOR_MS } from '../../src/adapters/rate-limit-object/grant-state'

/** Lock of one grant, over a storage that outlives the object, with a clock of the test. */
function grantAt(start: number) {
  const rows = new Map<string, unknown>()
  const clock = { now: start, alarm: 0 }
  const storage = {
    kv: { get: (key: string) => rows.get(key), put: (key: string, value: unknown) => void rows.set(key, value) },
    setAlarm: (at: number) => {
      clock.alarm = at
    },
    deleteAll: () => rows.clear(),
  }
  const open = () => new GrantState(storage, () => clock.now)
  return { clock, rows, open }
}

const exchanged = (next: string, answer: string | null = null) => ({ kind: 'exchanged', next, answer }) as const
const refresh = (hash: string) => ({ kind: 'refresh', hash }) as const

async function refreshed() {
  const grant = grantAt(1_000_000)
  const state = grant.open()
  await state.begin('a', { kind: 'code', hash: 'code' })
  state.finish('a', exchanged('one'))
  await state.begin('b', refresh('one'))
  state.finish('b', exchanged('two', 'answer'))
  return grant
}

it('returns the same successor for 30 seconds, over an eviction, and lets the old token be exchanged afterwards', async () => {
  const { clock, open } = await refreshed()
  clock.now += SAME_SUCCESSOR_MS
  const again = open()
  expect(await again.begin('c', refresh('one'))).toEqual({ kind: 'again', answer: 'answer', age: SAME_SUCCESSOR_MS })
  again.finish('c', { kind: 'unchanged' })
  clock.now += 1
  expect(await open().begin('d', refresh('one'))).toEqual({ kind: 'go', isKnown: true })
})

it('refuses a token that was replaced twice, and a code that was exchanged, for as long as the grant lasts', async () => {
  const { open } = await refreshed()
  const state = open()
  await state.begin('c', refresh('two'))
  state.finish('c', exchanged('three', 'answer'))
  for (const presented of [refresh('one'), { kind: 'code', hash: 'code' } as const]) {
    expect(await state.begin('d', presented)).toEqual({ kind: 'refused', endsGrant: true })
    state.finish('d', { kind: 'unchanged' })
  }
  // A code and a token that were never issued end nothing.
  expect(await state.begin('x', refresh('made up'))).toEqual({ kind: 'refused', endsGrant: false })
  state.finish('x', { kind: 'unchanged' })
  expect(await state.begin('e', { kind: 'code', hash: 'made up' })).toEqual({ kind: 'refused', endsGrant: false })
  state.finish('e', { kind: 'ended' })
  expect(await open().begin('f', refresh('three'))).toEqual({ kind: 'refused', endsGrant: false })
})

it('keeps an answer for 30 seconds, what it knows for a month, and nothing of a grant that never was', async () => {
  const { clock, rows, open } = await refreshed()
  expect(clock.alarm).toBe(clock.now + SAME_SUCCESSOR_MS)
  clock.now = clock.alarm
  open().forget()
  expect(JSON.stringify([...rows])).not.toContain('answer":"')
  expect(clock.alarm - clock.now).toBe(31 * 86_400_000)
  clock.now = clock.alarm
  open().forget()
  expect(rows.size).toBe(0)
  const none = open()
  await none.begin('a', { kind: 'revocation', hash: 'any' })
  none.finish('a', { kind: 'ended' })
  expect(rows.size).toBe(0)
})

it('carries out one request after the other, and takes over the lock of one that does not report back', async () => {
  vi.useFakeTimers()
  try {
    const state = grantAt(0).open()
    const order: string[] = []
    await state.begin('a', { kind: 'code', hash: 'code' })
    const second = state.begin('b', { kind: 'code', hash: 'code' }).then((verdict) => order.push(`b ${verdict.kind}`))
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await second
    expect(order).toEqual(['b go'])
    // Tokens that the first has issued meanwhile are not sent.
    expect(state.finish('a', exchanged('late'))).toBe(false)
    expect(state.finish('b', exchanged('one'))).toBe(true)
    expect(await state.begin('c', refresh('late'))).toEqual({ kind: 'refused', endsGrant: false })
  } finally {
    vi.useRealTimers()
  }
})

it('does not end a grant whose client sends its code twice at the same moment', async () => {
  const state = grantAt(0).open()
  await state.begin('a', { kind: 'code', hash: 'code' })
  const others = ['b', 'c'].map(async (id) => {
    const verdict = await state.begin(id, { kind: 'code', hash: 'code' })
    state.finish(id, { kind: 'unchanged' })
    return verdict
  })
  state.finish('a', exchanged('one'))
  expect(await Promise.all(others)).toEqual(others.map(() => ({ kind: 'refused', endsGrant: false })))
  expect(await state.begin('d', refresh('one'))).toEqual({ kind: 'go', isKnown: true })
})
