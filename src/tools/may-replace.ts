import * as z from 'zod'
import { laterWords } from '../domain/currency/later-first'
import type { Trace } from '../domain/receipts/receipt'
import type { Earlier } from '../services/currency/find-earlier'
import { listOf, part } from './fields'

const MEMORY = { title: z.string(), at: z.string() } as const

/** Reads the earlier memories from the receipt of a repeated call. */
export const earlierFromReceipt = ({ notes }: Pick<Trace, 'notes'>) => (notes.earlier ?? []) as readonly Earlier[]

export const mayReplaceOutput = listOf(part('Memory', { id: z.int(), ...MEMORY }), 'Earlier on this subject')
export const mayReplaceTexts = listOf(part('Memory', { id: z.string(), ...MEMORY }), 'Earlier on this subject')

/** Builds the calls by which a family records a judgement of the first earlier memory. */
export interface Calls {
  readonly replaces: (earlier: Earlier) => string
  readonly bothHold: (earlier: Earlier) => string
}

/** Returns a metadata patch that records that a memory replaces another. */
export const replacing = ({ id }: Pick<Earlier, 'id'>) => ({ supersedes: [id] })
/** Returns the memory that records that both are valid, and its metadata patch for their current contents. */
export const holdingBoth = (id: number, { id: other, mark, isHolder }: Pick<Earlier, 'id' | 'mark' | 'isHolder'>) =>
  isHolder ? { id: other, patch: { both_hold: { [id]: mark } } } : { id, patch: { both_hold: { [other]: mark } } }

/** Returns the members of a write's answer that name earlier memories on the subject; none if there are none. */
export function mayReplaceMembers<Id>(
  earlier: readonly Earlier[],
  idOf: (id: number) => Id,
  { replaces, bothHold }: Calls,
): { readonly may_replace?: readonly { id: Id; title: string; at: string }[]; readonly judge?: string } {
  const [first] = earlier
  if (first === undefined) return {}
  return {
    may_replace: earlier.map(({ id, title, at }) => ({ id: idOf(id), title: title.slice(0, MOST_TITLE), at })),
    judge: `Does it replace one of these? ${replaces(first)}. If both hold: ${bothHold(first)}`,
  }
}

/** Maximum characters of an earlier memory's title. */
const MOST_TITLE = 120

/** Returns the `update_context` calls for a new memory. */
export const callsOfThreads = (id: number): Calls => ({
  replaces: (earlier) => `update_context ${JSON.stringify({ context_id: id, metadata_patch: replacing(earlier) })}`,
  bothHold: (earlier) => {
    const { id: holder, patch } = holdingBoth(id, earlier)
    return `update_context ${JSON.stringify({ context_id: holder, metadata_patch: patch })}`
  },
})

/** Returns the member of a result that names later memories on its subject. */
export function laterMember({
  later,
  otherwise,
}: {
  readonly later?: readonly number[] | undefined
  readonly otherwise?: readonly number[] | undefined
}): { readonly note?: string } {
  const note = laterWords(later ?? [], otherwise)
  return note === '' ? {} : { note }
}
