import { type JsonObject, type Metadata, own } from '../entry/metadata'
import { type Content, contentMark } from './content-mark'

/** The statement of a reader about a memory and others on its subject. */
export interface Judgement {
  /** IDs of memories that it replaces. */
  readonly replaces: readonly number[]
  /** Memories next to which it holds. */
  readonly bothHold: readonly (Content & { readonly id: number })[]
}

/**
 * The patch of its metadata that records a judgement, in addition to earlier ones.
 *
 * @param metadata as they are stored
 * @param content of the memory after the patch
 */
export function judgementPatch(
  metadata: Metadata | null,
  content: Content,
  { replaces, bothHold }: Judgement,
): JsonObject {
  const before = own(metadata, 'supersedes')
  const known = Array.isArray(before) ? before : before === undefined || before === null ? [] : [before]
  const replaced = [...new Set([...known.map(String), ...replaces.map(String)])]
  return {
    ...(replaces.length === 0 ? {} : { supersedes: replaced }),
    ...(bothHold.length === 0
      ? {}
      : { both_hold: Object.fromEntries(bothHold.map((other) => [String(other.id), contentMark(content, other)])) }),
  }
}
