import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { createGateLimiter } from '../../src/adapters/rate-limit-object'
import type { Limits } from '../../src/ports/limiter'
import { bindings } from '../support/bindings'

/** The counting of requests, at times that the test sets. */
const MINUTE = 60_000
const START = 1000 * MINUTE
const gate = () => bindings.GATES.getByName(crypto.randomUUID())
const none: Limits = { perMinute: null, concurrent: null }

describe('a gate object', () => {
  it('admits the limit per minute, in any sixty seconds', async () => {
    const object = gate()
    const limits = { ...none, perMinute: 10 }
    const enter = (at: number) => object.enter(crypto.randomUUID(), limits, START + at)
    for (let i = 0; i < 10; i++) expect(await enter(50_000)).toEqual({ exceeded: null })
    expect(await enter(55_000)).toEqual({ exceeded: 'perMinute', retryAfter: 11 })
    // At the turn of the minute the last ten still count nine tenths and more.
    expect(await enter(MINUTE + 1)).toMatchObject({ exceeded: 'perMinute' })
    expect(await enter(MINUTE + 6_000)).toEqual({ exceeded: null })
    expect(await enter(MINUTE + 7_000)).toMatchObject({ exceeded: 'perMinute' })
    expect(await enter(3 * MINUTE)).toEqual({ exceeded: null })
  })

  it('counts every message of a request, all or none', async () => {
    const object = gate()
    const limits = { perMinute: 10, concurrent: 8 }
    const enter = (id: string, messages: number) => object.enter(id, limits, START, messages)
    expect(await enter('a', 6)).toEqual({ exceeded: null })
    expect(await enter('b', 3)).toEqual({ exceeded: 'concurrent', retryAfter: 1 })
    await object.leave('a')
    expect(await enter('c', 5)).toMatchObject({ exceeded: 'perMinute' })
    expect(await enter('d', 4)).toEqual({ exceeded: null })
    expect(await enter('e', 1)).toMatchObject({ exceeded: 'perMinute' })
    expect(await object.enter('f', { ...none, perMinute: 10 }, START + 9 * MINUTE, 11)).toMatchObject({
      exceeded: 'perMinute',
    })
  })

  it('returns a time after which the key is in fact admitted', async () => {
    const limits = { ...none, perMinute: 7 }
    for (const [burst, at] of [
      [7, 100],
      [7, 30_000],
      [7, 59_999],
    ] as const) {
      const object = gate()
      for (let i = 0; i < burst; i++) await object.enter(crypto.randomUUID(), limits, START + at)
      let now = START + at
      for (let tries = 0; ; tries++) {
        const verdict = await object.enter(crypto.randomUUID(), limits, now)
        if (verdict.exceeded === null) break
        expect(tries).toBe(0)
        now += verdict.retryAfter * 1000
      }
    }
  })

  it('remembers a busy minute over an eviction', async () => {
    const object = gate()
    const limits = { ...none, perMinute: 8 }
    for (let i = 0; i < 8; i++) await object.enter(crypto.randomUUID(), limits, START)
    await evictDurableObject(object)
    expect(await object.enter(crypto.randomUUID(), limits, START + 20_000)).toMatchObject({ exceeded: 'perMinute' })
  })

  it('admits the limit of concurrent requests, and forgets a request that never ended', async () => {
    const object = gate()
    const limits = { ...none, concurrent: 2 }
    await object.enter('a', limits, START)
    await object.enter('b', limits, START)
    expect(await object.enter('c', limits, START)).toEqual({ exceeded: 'concurrent', retryAfter: 1 })
    await object.leave('a')
    expect(await object.enter('c', limits, START)).toEqual({ exceeded: null })
    expect(await object.enter('d', limits, START + 3 * MINUTE)).toEqual({ exceeded: null })
  })
})

describe('the limiter', () => {
  const failures: unknown[] = []
  const parts = { gates: bindings.GATES, rateLimit: null, onFailure: (error: unknown) => failures.push(error) }

  it('counts each key by itself', async () => {
    const limiter = createGateLimiter({ ...parts, limits: { ...none, concurrent: 1 } })
    const [a, b] = [crypto.randomUUID(), crypto.randomUUID()]
    const first = await limiter.enter(a)
    expect([(await limiter.enter(a)).admitted, (await limiter.enter(b)).admitted]).toEqual([false, true])
    if (first.admitted) await first.leave()
    expect((await limiter.enter(a)).admitted).toBe(true)
  })

  it('asks the rate-limit binding for the minute where there is one', async () => {
    const asked: string[] = []
    const rateLimit = {
      limit: async ({ key }: { key: string }) => {
        asked.push(key)
        return { success: asked.length < 2 }
      },
    }
    const limiter = createGateLimiter({ ...parts, rateLimit, limits: { perMinute: 1, concurrent: 5 } })
    expect((await limiter.enter('k')).admitted).toBe(true)
    expect(await limiter.enter('k')).toEqual({ admitted: false, exceeded: 'perMinute', retryAfter: 60 })
    expect(asked).toEqual(['k', 'k'])
  })

  it('admits while the counter does not respond, and logs that', async () => {
    const rateLimit = { limit: () => Promise.reject(new Error('down')) }
    const limiter = createGateLimiter({ ...parts, rateLimit, limits: { perMinute: 1, concurrent: 1 } })
    expect((await limiter.enter('k')).admitted).toBe(true)
    expect(failures).toMatchObject([{ message: 'down' }])
  })
})
