import type { MemoryPair, Verdict } from '../domain/currency/pair'
import type { Entry } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

export interface PairOfOrg extends MemoryPair {
  readonly org: string
}

export interface JudgedPair extends MemoryPair {
  /** Null if neither content was judged. */
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

/** Selects pairs. */
export interface PairQuery {
  /** Project of the later memory; null for any. */
  readonly project: string | null
  readonly limit: number
}

export interface Fresh {
  readonly ids: readonly number[]
  /** ID up to which pairs were searched before; null for never. */
  readonly from: number | null
  /** ID up to which these memories go; null without new memories. */
  readonly upTo: number | null
  /** Whether there may be more after them. */
  readonly isPart: boolean
}

/** Pairs of memories on one subject, of which the later one may replace the earlier one. */
export interface MemoryPairs {
  /** Returns memories that may have a pair and were stored since pairs were last searched. */
  fresh(limit: number): Promise<Fresh>
  /** Records that pairs were searched; does nothing if another run, or an import, came in between. */
  recordScanned(part: Fresh): Promise<void>
  /** Returns memories of any organization, each with the first code points of its text. */
  memories(ids: readonly number[], length: number): Promise<readonly StoredMemory[]>
  /** Adds pairs; existing ones stay unchanged. */
  add(pairs: readonly PairOfOrg[]): Promise<void>

  /**
   * Returns pairs of which the caller can change the later memory and read the earlier one, and neither is superseded; newest later one
   * first.
   */
  list(scope: Scope, query: PairQuery): Promise<readonly JudgedPair[]>
  /** Returns pairs in these memories that a model judged to disagree. */
  disagreeing(scope: Scope, ids: readonly number[]): Promise<readonly JudgedPair[]>

  /** Leases pairs that wait for a judgement, of all organizations. The lease grows with each attempt. */
  claim(limit: number): Promise<readonly PairOfOrg[]>
  /** Puts a claimed pair off, without counting the attempt. */
  putOff(pair: PairOfOrg, until: Millis): Promise<void>
  /** Records a judgement of the contents of both. A null verdict: no model should judge it. */
  judge(pair: PairOfOrg, verdict: Verdict | null, judged: string): Promise<void>

  /** Returns pairs of all organizations after one, for maintenance. */
  page(after: PairOfOrg | null, limit: number): Promise<readonly PairWithMemories[]>
  /** Lets pairs wait for a judgement again. */
  reopen(pairs: readonly PairOfOrg[]): Promise<void>
  remove(pairs: readonly PairOfOrg[]): Promise<void>
}
