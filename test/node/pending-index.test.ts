import { describe, expect, it } from 'vitest'
import { Problem } from '../../src/domain/errors'
import type { PendingEntry } from '../../src/ports/retention'
import { createFinishIndex } from '../../src/services/maintenance/pending-index'
import type { Missed } from '../../src/services/maintenance/schedule'
import { freshPrincipal } from '../support/scope'

const entry = (given: Partial<PendingEntry>): PendingEntry => ({
  ...{ topic: 'index', id: 1, bytes: 10, abandoned: true },
  ...given,
})

function open(entries: readonly PendingEntry[]) {
  let now = 1_000
  let left = [...entries]
  const did = { looks: 0, words: [] as number[][], vectors: [] as number[][], down: false, hangs: false, makes: 100 }
  const drop = (topic: string, ids: readonly number[]) => {
    left = left.filter((one) => one.topic !== topic || !ids.includes(one.id))
  }
  const finishing = createFinishIndex({
    pending: {
      async pending() {
        did.looks++
        return left
      },
      async writeWords(_, ids) {
        did.words.push([...ids])
        drop('index', ids)
        return true
      },
    },
    generation: {
      async embedInTime(ids) {
        did.vectors.push([...ids])
        if (did.hangs) await new Promise(() => {})
        if (did.down) throw new Error('the model is down')
        const made = ids.slice(0, did.makes)
        drop('embed', made)
        const problem = made.length < ids.length ? new Problem('unavailable', 'needed more than 10 s') : null
        return { made: made.length, problem }
      },
    },
    vectorBytes: 100,
    state: { since: 0, embedsAgainAt: 0 },
    now: () => now,
  })
  const scope = freshPrincipal()
  let searches = 0
  const search = (goesBy?: readonly Missed[]) => finishing.searching(scope, async () => ++searches, goesBy)
  const wait = (ms: number) => {
    now += ms
  }
  return { finishing, did, search, wait }
}

describe('a search that finds its indexes behind', () => {
  it('is run once where nothing is to be written', async () => {
    const { did, search, finishing } = open([])
    expect([await search(), did.looks, finishing.warnings(['words', 'vectors'])]).toEqual([1, 1, []])
  })

  it('indexes an entry once that both retrievers need, and is run again', async () => {
    const { did, search, finishing } = open([entry({}), entry({ topic: 'embed' })])
    await Promise.all([search(), search()])
    expect([did.words, did.vectors]).toEqual([[[1]], [[1]]])
    expect(finishing.warnings(['words', 'vectors'])).toEqual([])
  })

  it('makes vectors of a limited part, and reports the rest', async () => {
    const { did, search, finishing } = open([
      entry({ topic: 'embed', bytes: 101 }),
      entry({ topic: 'embed', id: 2, bytes: 90 }),
    ])
    await search()
    expect([did.vectors, finishing.warnings(['words'])]).toEqual([[[2]], []])
    expect(finishing.warnings(['vectors'])).toEqual([expect.stringContaining('Some entries have no vectors yet')])
  })

  it('does not call a failed model for half a minute, and reports that results may be missing meanwhile', async () => {
    const { did, search, finishing, wait } = open([entry({ topic: 'embed' })])
    did.down = true
    expect([await search(), await search(), did.vectors.length]).toEqual([1, 2, 1])
    expect(finishing.warnings(['vectors'])).toHaveLength(1)
    did.down = false
    wait(30_000)
    expect([await search(), did.vectors.length]).toEqual([4, 2])
    expect(finishing.warnings(['vectors'])).toEqual([])
  })

  it('waits for no model where it goes by words alone', async () => {
    const { did, search } = open([entry({}), entry({ topic: 'embed' })])
    did.hangs = true
    void search(['vectors'])
    expect(await search(['words'])).toBeGreaterThan(0)
    expect(await search(['words'])).toBeGreaterThan(0)
    expect([did.words, did.vectors]).toEqual([[[1]], [[1]]])
  })

  it('is run again with the vectors that a slow model has made in its time, which is then left alone too', async () => {
    const { did, search } = open([entry({ topic: 'embed' }), entry({ topic: 'embed', id: 2 })])
    did.makes = 1
    expect(await search()).toBe(2)
    expect(await search()).toBe(3)
    expect(did.vectors).toEqual([[1, 2]])
  })

  it('leaves to a living writer what it is writing', async () => {
    const { did, search, finishing } = open([entry({ abandoned: false })])
    expect([await search(), did.words]).toEqual([1, []])
    expect(finishing.warnings(['words'])).toHaveLength(1)
  })
})
