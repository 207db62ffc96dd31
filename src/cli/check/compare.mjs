// Compares the citations of memories with a tree of files.
import { createHash } from 'node:crypto'

/** @typedef {import('../../domain/entry/citation').Citation} Citation */
/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {'unchanged' | 'filled' | 'moved' | 'changed' | 'gone'} State */
/** @typedef {{ before: Citation, after: Citation, state: State }} Compared */

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/**
 * Creates the comparison of one run, which reads and divides each file once.
 *
 * @param {typeof import('./library')} library @param {Tree} tree
 * @returns {(citation: Citation) => Compared}
 */
export function comparisonWith({ aroundOf, bareLines, compareCitation, hashOf, searchBudget }, tree) {
  /** @type {Map<string, string[] | null>} */
  const files = new Map()
  const linesOf = (path) => {
    const known = files.get(path)
    if (known !== undefined) return known
    const text = tree.textOf(path)
    const lines = text === null ? null : bareLines(text)
    files.set(path, lines)
    return lines
  }

  /** The hash of a citation without one: of the cited commit where git has it, else of the file as it is. @param {Citation} citation */
  function firstHash({ path, lines, commit }) {
    const cited = commit === undefined ? null : tree.textAt(commit, path)
    const present = cited === null ? linesOf(path) : bareLines(cited)
    return present === null ? null : hashOf(lines, present, sha256)
  }

  /**
   * Whether a file had a passage before a commit, so that the passage was not moved there.
   *
   * @param {Citation & { hash: string }} citation @param {import('./tree.mjs').Successor} successor
   */
  function hadIt(citation, { path, before }) {
    const text = before === null ? null : tree.textAt(before, path)
    return text !== null && compareCitation(citation, bareLines(text), sha256).state !== 'changed'
  }

  /**
   * Finds a passage in other files, which share one budget.
   *
   * @param {Citation & { hash: string }} citation @returns {{ path: string, lines: string } | null}
   */
  function elsewhere(citation) {
    const budget = searchBudget()
    for (const successor of tree.successors(citation.path)) {
      const { path } = successor
      const lines = linesOf(path)
      const found = lines === null ? null : compareCitation(citation, lines, sha256, budget)
      if (found === null || found.state === 'changed' || hadIt(citation, successor)) continue
      return { path, lines: found.state === 'moved' ? found.lines : citation.lines }
    }
    return null
  }

  /** A citation with what is around it at its place. @param {Citation & { hash: string }} citation */
  const placed = (citation) => ({ ...citation, around: aroundOf(citation, linesOf(citation.path) ?? [], sha256) })

  /** The number of equal passages, at the end of `around`. */
  const copiesIn = (around = '::1') => around.split(':')[2]

  return (before) => {
    const { changed_at: since, ...plain } = before
    const own = linesOf(before.path)
    /** @returns {Compared} */
    const marked = (citation) => ({
      before,
      after: { ...citation, changed_at: since ?? tree.changedAt(before.path) },
      state: own === null ? 'gone' : 'changed',
    })
    const hash = before.hash ?? firstHash(before)
    if (hash === null) return marked(plain)
    const citation = { ...plain, hash }
    const found = own === null ? null : compareCitation(citation, own, sha256)
    if (found?.state === 'unchanged') {
      const after = placed(citation)
      if (before.hash === undefined) return { before, after, state: 'filled' }
      // Neighbors change often. They count only between equal passages, so they are stored again only with these.
      const isSame = copiesIn(after.around) === copiesIn(before.around)
      return { before, after: isSame ? citation : after, state: 'unchanged' }
    }
    const place = found?.state === 'moved' ? { path: before.path, lines: found.lines } : elsewhere(citation)
    return place === null ? marked(citation) : { before, after: placed({ ...citation, ...place }), state: 'moved' }
  }
}
