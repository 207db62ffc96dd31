import { describe, expect, it } from 'vitest'
import { createBatchEmbedder } from '../../src/adapters/http-json/embedding'
import { ProviderProblem, patienceOf } from '../../src/adapters/http-json/retry'
import type { Embedder } from '../../src/ports/models'
import type { WorkItem } from '../../src/ports/outbox'
import { createBackgroundGeneration } from '../../src/services/maintenance/background-generation'
import { createEmbeddingTurn, createOutboxWork } from '../../src/services/maintenance/outbox-work'
import { createGenerate } from '../../src/services/writing/entries/generate'

/** A model on a CPU: two texts of 300 words per second. Time is simulated, so tests do not wait. */
const WORDS_300 = 'memory '.repeat(300).trim()
const UNITS_A_MS = (2 * WORDS_300.length) / 1000

interface SlowModel {
  readonly embedder: Embedder
  readonly now: () => number
  /** Units of each request, and whether it was answered in time. */
  readonly requests: { units: number; inTime: boolean }[]
  /** Slowdown relative to two texts per second. */
  slowness: number
  /** Additional milliseconds of the next request, as while a model is loaded. */
  loading: number
}

function slowModel({ tryMs = 10_000, first = 6_000, parallel = 1 } = {}): SlowModel {
  let clock = 1_000_000
  const model: SlowModel = {
    requests: [],
    slowness: 1,
    loading: 0,
    now: () => clock,
    embedder: createBatchEmbedder({
      ...{ provider: 'ollama', name: 'Ollama', model: 'slow', dimensions: 4 },
      limits: { texts: 16, characters: 30_000, first, parallel },
      patience: { ...patienceOf(tryMs), retriesTimeouts: false },
      speed: { capacity: null },
      now: () => clock,
      request: async (texts, deadline) => {
        const units = texts.reduce((sum, text) => sum + text.length, 0)
        const allowed = Math.min(tryMs, deadline - clock)
        const needed = (units / UNITS_A_MS) * model.slowness + model.loading
        model.loading = Math.max(0, model.loading - allowed)
        const inTime = needed <= allowed
        model.requests.push({ units, inTime })
        clock += Math.max(0, Math.min(needed, allowed))
        if (!inTime) throw new ProviderProblem({ message: 'Ollama did not answer', reason: 'timeout', retry: true })
        return texts.map((text) => [1, text.length, 2, 3])
      },
    }),
  }
  return model
}

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i} ${WORDS_300}`)

describe('a model that makes two vectors a second', () => {
  it('gets requests of the size it managed before, so that none times out', async () => {
    const model = slowModel()
    const made = await model.embedder.embedPatiently?.(many(100), async () => {})
    expect(made).toHaveLength(100)
    expect(model.requests.filter(({ inTime }) => !inTime)).toEqual([])
    expect(model.requests.length).toBeLessThan(40)
  })

  it('embeds what it can in the time of a write, in order, and reports the rest as missing', async () => {
    const model = slowModel()
    const begun = model.now()
    const { vectors, problem } = (await model.embedder.embedInTime?.(many(100))) ?? { vectors: [], problem: null }
    const made = vectors.filter((vector) => vector !== null).length
    expect(made).toBeGreaterThanOrEqual(16)
    expect(vectors.slice(0, made).every((vector) => vector !== null)).toBe(true)
    expect(problem?.message).toBe('Ollama needed more than 10 s for this much text; send less at once')
    expect(model.now() - begun).toBeLessThanOrEqual(10_000)
    expect(model.requests.every(({ inTime }) => inTime)).toBe(true)
  })

  it('loads for half a minute and gets requests of the earlier size right after', async () => {
    const model = slowModel()
    model.loading = 31_000
    await model.embedder.embedPatiently?.(many(100), async () => {})
    expect(model.requests.filter(({ inTime }) => !inTime)).toHaveLength(3)
    expect(model.requests.at(-3)?.units).toBeGreaterThan(6_000)
  })

  it('becomes ten times slower and is still asked for what it manages', async () => {
    const model = slowModel()
    await model.embedder.embedPatiently?.(many(20), async () => {})
    model.slowness = 10
    model.requests.length = 0
    await model.embedder.embedPatiently?.(many(20), async () => {})
    expect(model.requests.filter(({ inTime }) => !inTime).length).toBeLessThanOrEqual(2)
  })

  it('fails a call that needs all vectors when 25 s are over, as before', async () => {
    const model = slowModel()
    await expect(model.embedder.embed(many(100), 'document')).rejects.toMatchObject({ code: 'unavailable' })
    expect(model.now() - 1_000_000).toBeLessThanOrEqual(25_000)
    expect(await model.embedder.embed(many(30), 'document')).toHaveLength(30)
  })

  it('has the time of EMBEDDING_TIMEOUT_S', async () => {
    const slow = slowModel({ tryMs: 1_000 })
    slow.slowness = 4
    await expect(slow.embedder.embed(many(1), 'document')).rejects.toMatchObject({ reason: 'timeout' })
    const patient = slowModel({ tryMs: 60_000 })
    patient.slowness = 4
    expect(await patient.embedder.embed(many(1), 'document')).toHaveLength(1)
  })
})

/** Entries with texts, some of them with vectors. */
function store(model: SlowModel, count: number) {
  const texts = many(count)
  const embedded = new Set<number>()
  const generate = createGenerate({
    ...{ embedder: model.embedder, summarizer: null, chunking: null, onEmbeddingFailure: 'defer', minContentLength: 0 },
  })
  const generation = createBackgroundGeneration({
    ...{ generate, summarizer: null, now: model.now },
    summaries: { summarize: async () => {} },
    rows: {
      sizesOf: async (ids: readonly number[]) => ids.map((id) => ({ id, bytes: texts[id - 1]?.length ?? 0 })),
      textsOf: async (ids: readonly number[]) =>
        ids.map((id) => ({ id, org: 'o', source: 'agent' as const, text: texts[id - 1] ?? '', textHash: 'h' })),
      unembedded: async (_: string | null, __: string, after: number, limit: number) => {
        const looked = texts.map((___, i) => i + 1).slice(after, after + limit)
        const last = looked.at(-1)
        return {
          missing: looked.filter((id) => !embedded.has(id)),
          last: last === undefined || last === count ? null : last,
        }
      },
      coverage: async () => ({ entries: count, embedded: embedded.size }),
      replace: async ({ id }: { readonly id: number }) => void embedded.add(id),
    } as never,
  })
  return { generate, generation, embedded, texts }
}

describe('what is left to be embedded', () => {
  it('is made by steps that end in time, by a pass that continues where it was interrupted, and each once', async () => {
    const model = slowModel()
    const { generation, embedded } = store(model, 10_000)
    let after: number | null = 0
    let steps = 0
    let longest = 0
    while (after !== null) {
      const begun = model.now()
      // Every tenth step starts again where the last successful one has ended, as after a restart.
      const step = await generation.reembed('o', after)
      longest = Math.max(longest, model.now() - begun)
      if (++steps % 10 !== 0 || step.next === null) after = step.next
    }
    expect(embedded.size).toBe(10_000)
    expect(longest).toBeLessThan(25_000)
    expect(model.requests.every(({ inTime }) => inTime)).toBe(true)
    const units = model.requests.reduce((sum, request) => sum + request.units, 0)
    expect(units).toBeLessThan(10_000 * (WORDS_300.length + 10))
  })

  it('is made for a search that waits, which waits no longer than one try takes', async () => {
    const model = slowModel()
    const { generation, embedded } = store(model, 3)
    expect(await generation.embedInTime([1, 2])).toEqual({ made: 2, problem: null })
    model.loading = 1_000_000
    const begun = model.now()
    expect(await generation.embedInTime([3])).toMatchObject({ made: 0, problem: { code: 'unavailable' } })
    expect([model.now() - begun, embedded.size]).toEqual([10_000, 2])
  })

  it('is stored by a write that does not wait, with what was made in time', async () => {
    const model = slowModel()
    const { generate, texts } = store(model, 100)
    const made = await generate(texts.map((text) => ({ title: null, text, source: 'agent' })))
    const queued = made.filter((one) => one.queued.includes('embed'))
    expect(queued.length).toBeGreaterThan(50)
    expect(made.filter(({ vectors }) => vectors !== null)).toHaveLength(100 - queued.length)
    expect(queued.every(({ vectors }) => vectors === null)).toBe(true)
  })

  it('is used by one worker of the outbox at a time, which extends its lease meanwhile', async () => {
    const model = slowModel()
    const { generation, embedded } = store(model, 50)
    const items = Array.from(
      { length: 50 },
      (_, i): WorkItem => ({ id: i, org: 'o', topic: 'embed', key: String(i + 1), attempts: 1, token: 't' }),
    )
    let claims = 0
    let holds = 0
    let beside: Promise<void> | undefined
    const work = createOutboxWork({
      outbox: {
        claim: async (lanes) => {
          if (!lanes.some(({ topic }) => topic === 'embed')) return []
          return claims++ === 0 ? items : []
        },
        hold: async (held) => {
          // The first one comes before the work.
          if (++holds === 2) beside = work()
          return [...held]
        },
        finish: async () => {},
        missed: async () => {},
        retry: async () => {},
        putOff: async () => {},
        queueUnused: async () => 0,
      },
      ...{ images: {} as never, index: {} as never, deletes: {} as never, longTexts: {} as never },
      ...{ generation, syncOrg: async () => {}, log: () => {}, turn: createEmbeddingTurn(model.now) },
    })
    await work()
    await beside
    expect(embedded.size).toBe(50)
    expect(claims).toBe(1)
    expect(holds).toBeGreaterThan(model.requests.length)
  })
})
