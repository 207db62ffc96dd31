import type { DeleteSelection } from '../domain/entry/selection'
import { titleOf } from '../domain/entry/title'
import { Problem } from '../domain/errors'
import { EVERYTHING } from '../domain/search/filter'
import type { ToolContext } from './context'

/** A call needs the consent of a person. The call changed nothing; the client asks the question and makes the call again with the answer. */
export class ConsentNeeded extends Error {
  constructor(
    readonly question: string,
    /** The IDs of the memories that it is about, with versions where these count: an answer does not count for others. */
    readonly about: readonly number[],
  ) {
    super('the call needs the consent of a person')
  }
}

/** A deletion of more memories than this asks a person. */
const FEW = 10
const NAMED = 3
const TITLE_CHARACTERS = 80

/** Titles are stored text: a dialog shows them on one line, without characters that a terminal obeys. */
const shownTitle = (title: string): string => {
  const characters = [...title.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()]
  return characters.length > TITLE_CHARACTERS
    ? `${characters.slice(0, TITLE_CHARACTERS).join('')}…`
    : characters.join('')
}

const memories = (count: number): string => (count === 1 ? '1 memory' : `${count} memories`)

/**
 * Asks a person before an erasure, and before a deletion of more than ten memories, if the client can ask. Takes two round trips
 * more then.
 *
 * @throws ConsentNeeded, Problem forbidden
 */
export async function askBeforeDeleting(
  { confirm, services, principal }: ToolContext,
  selection: DeleteSelection,
  erase: boolean,
): Promise<void> {
  const isSmall = !erase && selection.ids !== undefined && selection.ids.length <= FEW
  if (confirm === undefined || isSmall) return
  const { count, ids } = await services.deleteEntries.look(principal, selection, erase)
  if (count === 0 || (!erase && count <= FEW)) return
  const previews = await services.entries.previews(principal, EVERYTHING, ids.slice(0, NAMED), 300)
  const titles = previews.map((one) => `“${shownTitle(titleOf(one))}”`)
  const others = count - titles.length
  const list = [...titles, ...(others > 0 ? [titles.length === 0 ? memories(others) : `${others} more`] : [])].join(
    ', ',
  )
  await confirm(
    erase
      ? `Erase ${memories(count)} for good, with every version? This cannot be undone. ${list}`
      : `Delete ${memories(count)}? ${list}`,
    ids,
  )
}

export type ReviewAction = 'approve' | 'drop'

interface ReviewedTitle {
  readonly id: number
  readonly title: string
  /** Who can read it once it is approved; null if approval changes no reader. */
  readonly audience: string | null
}

const READERS = new Map([
  ['org', ', then readable by the organization'],
  ['project', ', then readable in its project'],
])

/**
 * Asks a person before captured sessions are approved or dropped. The question names each of them, so that an answer counts for
 * these alone, and for the versions of the call.
 *
 * @param versions by ID
 * @throws ConsentNeeded, Problem forbidden, or unsupported if the client cannot ask
 */
export async function askBeforeReview(
  { confirm, origin }: ToolContext,
  action: ReviewAction,
  versions: Readonly<Record<string, number>>,
  list: () => Promise<readonly ReviewedTitle[]>,
): Promise<void> {
  if (confirm === undefined)
    throw new Problem(
      'unsupported',
      `Only a person can ${action} captured sessions, and this client cannot ask one. Open ${origin}/review`,
    )
  const entries = await list()
  const count = entries.length === 1 ? '1 captured session' : `${entries.length} captured sessions`
  const named = entries.map(({ id, title, audience }) => {
    const readers = action === 'approve' ? (READERS.get(audience ?? '') ?? '') : ''
    return `“${shownTitle(title)}” (${id}${readers})`
  })
  const effect = action === 'approve' ? `Approve ${count}? Agents can then find them.` : `Drop ${count}?`
  await confirm(
    `${effect} ${named.join(', ')}`,
    Object.entries(versions).flatMap(([id, version]) => [Number(id), version]),
  )
}
