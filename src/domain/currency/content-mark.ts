import type { Entry } from '../entry/entry'
import { hash32 } from '../text'

/** What decides whether two versions of a memory have the same content. */
export type Content = Pick<Entry, 'title' | 'textHash'>

const markOf = ({ title, textHash }: Content): string =>
  `${textHash.slice(0, 12)}${title === null ? '' : hash32(title)}`

/**
 * The contents (title and text) of two memories that a judgement is about. A new title or text of either makes another mark; a change of
 * tags, status or links makes none.
 */
export const contentMark = (judging: Content, other: Content): string => `${markOf(judging)}-${markOf(other)}`
