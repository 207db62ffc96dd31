import type { ReviewedEntry } from './review'

/** The part of their words that two sessions share, from which they are listed together. */
const SIMILAR = 0.6
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_.\-/]+/gu
/** The line of client and place, which sessions of a project have in common. */
const FIRST_LINE = /^[^\n]*\n+/

type Compared = Pick<ReviewedEntry, 'title' | 'project' | 'preview'>

const wordsOf = ({ title, preview }: Compared): ReadonlySet<string> =>
  new Set(`${title ?? ''}\n${preview.replace(FIRST_LINE, '')}`.toLowerCase().match(WORD) ?? [])

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  const all = a.size + b.size - shared
  return all === 0 ? 0 : shared / all
}

/**
 * Lists sessions of one project that have most words in common together, each group in the place of its first session. A session
 * belongs to the first group with whose first session it shares 60 % of the words.
 */
export function groupSimilar<T extends Compared>(sessions: readonly T[]): readonly (readonly T[])[] {
  const groups: { readonly words: ReadonlySet<string>; readonly project: string | null; readonly members: T[] }[] = []
  for (const session of sessions) {
    const words = wordsOf(session)
    const group = groups.find((one) => one.project === session.project && similarity(one.words, words) >= SIMILAR)
    if (group === undefined) groups.push({ words, project: session.project, members: [session] })
    else group.members.push(session)
  }
  return groups.map(({ members }) => members)
}
