import { describe, expect, it } from 'vitest'
import { IsolateMemory } from '../../src/adapters/vector-object/memory'

describe('the memory that vectors of an isolate share', () => {
  const world = (bound: number) => {
    const memory = new IsolateMemory(bound)
    const freed: string[] = []
    const reserve = (key: string, bytes: number, now = 0) => memory.reserve(key, bytes, () => freed.push(key), now)
    const load = (key: string, bytes: number) => {
      expect(reserve(key, bytes)).toBe(true)
      memory.hold(key, bytes)
    }
    return { memory, freed, reserve, load }
  }

  it('frees the least recently used until there is enough memory, and no more', () => {
    const { memory, freed, load } = world(100)
    for (const key of ['a', 'b', 'c']) load(key, 30)
    memory.touch('a')
    load('d', 30)
    expect([freed, memory.bytes]).toEqual([['b'], 90])
    load('e', 70)
    expect([freed, memory.bytes]).toEqual([['b', 'c', 'a'], 100])
  })

  it('holds one alone that is larger than all may be', () => {
    const { memory, freed, load } = world(100)
    load('a', 60)
    load('b', 150)
    expect([freed, memory.bytes]).toEqual([['a'], 150])
  })

  it('lets a load wait when others use the memory, and frees nothing meanwhile', () => {
    const { memory, freed, reserve, load } = world(100)
    load('a', 20)
    expect(reserve('b', 60, 1)).toBe(true)
    expect(reserve('c', 60, 2)).toBe(false)
    expect(reserve('d', 30, 3)).toBe(true)
    expect(freed).toEqual(['a'])
    memory.hold('b', 60)
    expect(reserve('c', 60, 4)).toBe(true)
    expect([freed, memory.bytes]).toEqual([['a', 'b'], 90])
  })

  it('does not wait for a load that was silent for half a minute', () => {
    const { memory, freed, reserve } = world(100)
    expect(reserve('a', 60)).toBe(true)
    memory.renew('a', 20_000)
    expect(reserve('b', 60, 49_999)).toBe(false)
    expect(reserve('b', 60, 50_000)).toBe(true)
    expect(freed).toEqual(['a'])
  })

  it('frees others when one grows, and at once the memory of an object that is rebuilt', () => {
    const { memory, freed, load } = world(100)
    load('a', 40)
    load('b', 40)
    memory.hold('b', 70)
    expect([freed, memory.bytes]).toEqual([['a'], 70])
    load('b', 40)
    expect([freed, memory.bytes]).toEqual([['a', 'b'], 40])
    memory.giveUp('b')
    expect(memory.bytes).toBe(0)
  })
})
