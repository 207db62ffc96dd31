import type { VectorizeBinding } from '../../src/adapters/vectorize'

type Write =
  | { readonly kind: 'upsert'; readonly id: string; readonly namespace: string; readonly values: number[] }
  | { readonly kind: 'delete'; readonly id: string }

/**
 * Vectorize at its worst: writes become visible when the test decides, in another order, and some never do. It has the real
 * limits: topK 100, ids and namespaces of 64 bytes, 1,000 vectors an upsert, 20 ids a look-up.
 */
export class FakeVectorize implements VectorizeBinding {
  private readonly visible = new Map<string, { namespace: string; values: number[] }>()
  private waiting: Write[] = []
  failing = false
  /** Vectors that were sent, repeated ones counted again. */
  upserted = 0

  /** @param random from 0 to 1, of the test's own seed */
  constructor(
    private readonly random: () => number,
    private readonly dropShare = 0,
  ) {}

  private check(ok: boolean, what: string): void {
    if (this.failing) throw new Error('injected: VECTOR_QUERY_ERROR')
    if (!ok) throw new Error(`Vectorize refuses ${what}`)
  }

  /** Lets about this share of the waiting writes show up. */
  process(share = 1): void {
    const shuffled = this.waiting.map((write) => ({ write, at: this.random() })).sort((a, b) => a.at - b.at)
    const count = Math.ceil(shuffled.length * share)
    for (const { write } of shuffled.slice(0, count)) {
      if (this.random() < this.dropShare) continue
      if (write.kind === 'delete') this.visible.delete(write.id)
      else this.visible.set(write.id, write)
    }
    this.waiting = shuffled.slice(count).map(({ write }) => write)
  }

  async query(vector: number[], { topK, namespace }: { topK: number; namespace: string }) {
    this.check(topK <= 100 && topK >= 1, `topK ${topK}`)
    this.check(new TextEncoder().encode(namespace).length <= 64, 'the namespace')
    const length = (v: number[]) => Math.sqrt(v.reduce((sum, x) => sum + x * x, 0)) || 1
    const matches = [...this.visible]
      .filter(([, stored]) => stored.namespace === namespace)
      .map(([id, { values }]) => ({
        id,
        score: values.reduce((sum, x, i) => sum + x * (vector[i] as number), 0) / length(values) / length(vector),
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, topK)
    return { matches }
  }

  async upsert(vectors: { id: string; namespace: string; values: number[] }[]) {
    this.check(vectors.length <= 1000, `${vectors.length} vectors at once`)
    for (const { id } of vectors) this.check(id.length <= 64, 'the id')
    this.upserted += vectors.length
    this.waiting.push(...vectors.map((vector) => ({ kind: 'upsert' as const, ...vector })))
  }

  async deleteByIds(ids: string[]) {
    this.check(ids.length <= 1000, `${ids.length} ids at once`)
    this.waiting.push(...ids.map((id) => ({ kind: 'delete' as const, id })))
  }

  async getByIds(ids: string[]) {
    this.check(ids.length <= 20, `${ids.length} ids at once`)
    return ids.filter((id) => this.visible.has(id)).map((id) => ({ id }))
  }
}
