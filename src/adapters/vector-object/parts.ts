import type { VectorChanges, VectorIndexState } from '../../ports/vector-index'
import { type Planned, planFor } from './plan'
import { covers } from './questions'
import type { PlacedVector } from './scan'
import type { Part, StorageChange, Stretch, VectorStorage } from './storage'

/**
 * Vectors of a space over several objects. Ids only grow, so each object has a stretch of them: the first object takes what comes until it
 * is full, then the next is opened. The first keeps the list, passes changes on and notes them when all have taken their part; what breaks
 * in between is told again from where the list stands. So whatever the first says it knows, the parts know too, and maybe more.
 */

/** What the first tells a part. */
export interface PartChange extends Stretch {
  /** It begins with this, whatever it may have. */
  readonly begins: boolean
  /** What it was told up to now; what it has beyond that is left from changes that broke off. */
  readonly after: number
  readonly added: readonly PlacedVector[]
  readonly removed: readonly number[]
}

/** An object beside the first, as that reaches it. */
interface PartStub {
  /** How many vectors it has then; null where it has lost some. */
  take(change: PartChange): Promise<number | null>
  /** Its first vectors from an id on. */
  portion(from: number, limit: number): Promise<Stretch & { readonly vectors: PlacedVector[] }>
  stretch(): Promise<Stretch>
  clear(): Promise<void>
}

/** The object that keeps the list. */
interface FirstObject {
  readonly stored: VectorStorage
  write(change: StorageChange): void
  clear(): void
}

/** Objects beside the first, by number. */
export type Others = (n: number) => PartStub

/** Neighbours that together fill no more than this of one object are put together. */
const ROOMY = 0.75
/** Vectors that move to a neighbour in one go, and no more than an eighth of what it may have. */
const MOVED = 2_000

/** As `Promise.all`, but whoever is not done yet is waited for: what comes next must not meet what was sent before. */
async function all<T>(requests: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(requests)
  return Promise.all(requests)
}

export class VectorParts {
  private turn: Promise<unknown> = Promise.resolve()

  constructor(private readonly own: FirstObject) {}

  /** One change after the other, however long the parts take. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work)
    this.turn = done.catch(() => {})
    return done
  }

  /** Whether the first object lost what it had, and not the list. */
  private get isLost(): boolean {
    return this.own.stored.parts().length > 0 && this.own.stored.progress().added === 0
  }

  /** The first object as one of them, and the parts. */
  private list(): [Part, ...Part[]] {
    const { added, held } = this.own.stored.progress()
    return [{ n: 0, first: Number.MIN_SAFE_INTEGER, told: added, held }, ...this.own.stored.parts()]
  }

  /** How far all have come. */
  async state(others: Others): Promise<VectorIndexState> {
    if (this.isLost) await this.mend(others)
    const { added, removed } = this.own.stored.progress()
    return { addedUpTo: added, removedUpTo: removed }
  }

  /** Begins anew, with nothing. */
  forget(others: Others): Promise<void> {
    return this.inTurn(() => this.empty(others))
  }

  /** Begins anew where an object has lost what it had. */
  mend(others: Others): Promise<void> {
    return this.inTurn(async () => {
      const parts = this.own.stored.parts()
      const covered = await all(parts.map(async (part) => covers(await others(part.n).stretch(), part)))
      if (this.isLost || covered.includes(false)) await this.empty(others)
    })
  }

  /** The list goes last: while it stands, a part that is empty already is known to lack something. */
  private async empty(others: Others): Promise<void> {
    await all(this.own.stored.parts().map(({ n }) => others(n).clear()))
    this.own.clear()
  }

  private async beginAnew(others: Others): Promise<never> {
    await this.empty(others)
    throw new Error('The index lacks something, so it begins anew')
  }

  /**
   * @param capacity vectors that one object may have
   * @throws Problem limit_exceeded when there would be too many objects
   */
  apply(changes: VectorChanges, capacity: number, others: Others): Promise<void> {
    return this.inTurn(async () => {
      const { since } = changes
      const progress = this.own.stored.progress()
      if (since.addedUpTo > progress.added || since.removedUpTo > progress.removed)
        throw new Error('These changes follow a state that the index does not have')
      // An earlier release put more into it than several objects of one isolate can share.
      if (this.isLost || progress.held > capacity) return this.beginAnew(others)
      const [own, ...plan] = planFor(changes, this.list(), capacity)
      const told = await all(plan.map((one) => tell(one, others)))
      const parts = told.filter((part) => part !== null)
      if (parts.length < told.length) return this.beginAnew(others)
      this.own.write({
        ...{ added: own.added, removed: own.removed, parts },
        progress: {
          added: Math.max(progress.added, changes.addedUpTo),
          removed: Math.max(progress.removed, changes.removedUpTo),
        },
      })
      if (changes.removed.length > 0) await this.join(capacity, others)
    })
  }

  /**
   * Where much is gone, vectors of an object move to its neighbour before it, which then has a longer stretch; one that has none left is no
   * part any more. Both have them until the list is written, and a search that meets an old list asks again.
   */
  private async join(capacity: number, others: Others): Promise<void> {
    const list = this.list()
    const at = list.findIndex((part, i) => i > 0 && part.held + (list[i - 1] as Part).held <= capacity * ROOMY)
    const [left, right] = [list[at - 1], list[at]]
    if (left === undefined || right === undefined) return
    const most = Math.min(MOVED, Math.ceil(capacity / 8))
    const { vectors, ...stretch } = await others(right.n).portion(right.first, most)
    if (!covers(stretch, right)) return this.beginAnew(others)
    const isAll = vectors.length < most
    const upTo = isAll ? right.told : (vectors.at(-1) as PlacedVector).id
    const change = { begins: false, removed: [] }
    const more = { ...change, first: left.first, after: left.told, upTo, added: vectors }
    const held = left.n === 0 ? 0 : await others(left.n).take(more)
    if (held === null) return this.beginAnew(others)
    const rest = { ...right, first: upTo + 1, held: right.held - vectors.length }
    const parts = this.own.stored.parts().flatMap((part) => {
      if (part.n === left.n) return { ...left, told: upTo, held }
      return part.n !== right.n ? part : isAll ? [] : rest
    })
    this.own.write({ added: left.n === 0 ? vectors : [], removed: [], progress: {}, parts })
    if (isAll) await others(right.n).clear()
    else await others(right.n).take({ ...change, first: rest.first, after: rest.told, upTo: rest.told, added: [] })
  }
}

/** @returns the part as it is then; null where it has lost some of what it had */
async function tell({ part, isTouched, begins, after, added, removed }: Planned, others: Others): Promise<Part | null> {
  if (!isTouched) return part
  const held = await others(part.n).take({ begins, after, first: part.first, upTo: part.told, added, removed })
  return held === null ? null : { ...part, held }
}
