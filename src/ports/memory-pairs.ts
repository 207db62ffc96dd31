import type { MemoryPair, Verdict } from '../domain/currency/pair'
import type { Entry } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

export interface PairOfOrg extends MemoryPair {
  readonly org: string
}

export interface JudgedPair extends MemoryPair {
  /** Null where none of the two contents was judged. */
  readonly verdict: Verdict | null
  /** The contents that the verdict is about (`contentMark`, the later one first). */
  readonly judged: string | null
}

/** A memory as background work reads it, of any organization. */
export interface StoredMemory extends Entry {
  readonly org: string
  readonly diary: boolean
}

/** A pair and its memories, as maintenance reads it; null where a memory is deleted. */
export interface PairWithMemories extends PairOfOrg, JudgedPair {
  readonly memories: readonly [later: MemoryContent | null, earlier: MemoryContent | null]
}

export type MemoryContent = Pick<Entry, 'id' | 'title' | 'textHash' | 'metadata'>

/** Where a list of pairs goes on. */
export interface PairQuery {
  readonly project: string | null
  readonly after: MemoryPair | null
  readonly limit: number
}

export interface Fresh {
  readonly ids: readonly number[]
  /** The ID up to which pairs had been sought; null for never. */
  readonly from: number | null
  /** The ID up to which these go; null where there is nothing new. */
  readonly upTo: number | null
  /** Whether there may be more behind it. */
  readonly isPart: boolean
}

/** Pairs of memories on one subject, of which the later one may replace the earlier one. */
export interface MemoryPairs {
  /** Memories that may have a pair and were stored since pairs were last sought. */
  fresh(limit: number): Promise<Fresh>
  /** Notes that pairs were sought; nothing where another run, or an import, came between. */
  sought(part: Fresh): Promise<void>
  /** Memories of any organization, each with the first code points of its text. */
  memories(ids: readonly number[], length: number): Promise<readonly StoredMemory[]>
  /** Adds pairs; those that are known stay as they are. */
  add(pairs: readonly PairOfOrg[]): Promise<void>

  /** Pairs of which the caller can change the later memory and read the earlier one, which nothing replaces; the newest later one first. */
  list(scope: Scope, query: PairQuery): Promise<readonly JudgedPair[]>
  /** Pairs among these memories that a model judged to disagree. */
  disagreeing(scope: Scope, ids: readonly number[]): Promise<readonly JudgedPair[]>

  /** Claims pairs that wait for a judgement, of all organizations, for a while that grows with each attempt. */
  claim(limit: number): Promise<readonly PairOfOrg[]>
  /** Puts a claimed pair off, without counting the attempt. */
  putOff(pair: PairOfOrg, until: Millis): Promise<void>
  /** Records a judgement of the contents of both. A null verdict: no model is to judge it. */
  judge(pair: PairOfOrg, verdict: Verdict | null, judged: string): Promise<void>

  /** Pairs of all organizations behind one, for maintenance. */
  page(after: PairOfOrg | null, limit: number): Promise<readonly PairWithMemories[]>
  /** Lets pairs wait for a judgement again. */
  reopen(pairs: readonly PairOfOrg[]): Promise<void>
  remove(pairs: readonly PairOfOrg[]): Promise<void>
}
