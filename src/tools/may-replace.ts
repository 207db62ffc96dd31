import * as z from 'zod'
import { laterWords } from '../domain/currency/later-first'
import type { Trace } from '../domain/receipts/receipt'
import type { Earlier } from '../services/currency/find-earlier'
import { listOf, part } from './fields'

/** Earlier memories on the subject of a new one, and the calls by which the writer records what became of them. */

const MEMORY = { title: z.string(), at: z.string() } as const

/** Of a call that was carried out before. */
export const earlierBefore = ({ notes }: Pick<Trace, 'notes'>) => (notes.earlier ?? []) as readonly Earlier[]

export const mayReplaceOutput = listOf(part('Memory', { id: z.int(), ...MEMORY }), 'Earlier on this subject')
export const mayReplaceTexts = listOf(part('Memory', { id: z.string(), ...MEMORY }), 'Earlier on this subject')

/** How a family records a judgement of the first of the earlier memories. */
export interface Calls {
  readonly replaces: (earlier: Earlier) => string
  readonly bothHold: (earlier: Earlier) => string
}

/** A patch of metadata that records that a memory replaces another. */
export const replacing = ({ id }: Pick<Earlier, 'id'>) => ({ supersedes: [id] })
/** A patch of metadata that records that both hold, for these contents of both. */
export const holdingNextTo = ({ id, mark }: Pick<Earlier, 'id' | 'mark'>) => ({ both_hold: { [id]: mark } })

/** The members of an answer to a write; none where no earlier memory is on the subject. */
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

/** Characters of the title of an earlier memory. */
const MOST_TITLE = 120

/** The calls of `update_context` for a new memory. */
export const callsOfThreads = (id: number): Calls => ({
  replaces: (earlier) => `update_context ${JSON.stringify({ context_id: id, metadata_patch: replacing(earlier) })}`,
  bothHold: (earlier) => `update_context ${JSON.stringify({ context_id: id, metadata_patch: holdingNextTo(earlier) })}`,
})

/** Later results that one names. */
const MOST_LATER = 2

/** The member of a result that names later ones on its subject. */
export const laterMember = (later: readonly number[]): { readonly note?: string } =>
  later.length === 0 ? {} : { note: laterWords(later.slice(0, MOST_LATER)) }
