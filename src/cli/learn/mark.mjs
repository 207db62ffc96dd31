// Compares the citations of learned memories with the last commit, and marks those whose source changed.
import { createHash } from 'node:crypto'
import { askCore } from '../memory/commands.mjs'

const PAGE = 100

/** @param {string} text */
const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** @typedef {import('../../domain/sources/citation').Citation} Citation */
/**
 * @typedef {object} Repository
 * @property {(path: string) => string | null} textOf the text of a file of the last commit; null if there is none
 * @property {(path: string) => string} changedAt the date of the last commit that changed the path
 */

/** Reads all memories of a thread that the key can read, those that wait too. @param {string} url @param {string} thread */
async function memoriesOf(url, thread) {
  /** @type {{ id: number, metadata: Record<string, any> | null }[]} */
  const memories = []
  for (;;) {
    const args = { thread_id: thread, limit: PAGE, offset: memories.length }
    const { results, has_more: isMore } = await askCore(url, 'search_context', args, 'threads')
    memories.push(...results)
    if (!isMore || results.length === 0) return memories
  }
}

/**
 * Returns a citation as it is in the last commit.
 *
 * @param {Citation} citation
 * @param {Repository} repository
 * @param {typeof import('./library')} library
 * @returns {Citation}
 */
function current(citation, repository, { bareLines, compareCitation }) {
  const { changed_at: since, ...plain } = citation
  const { hash } = plain
  if (hash === undefined) return citation
  const text = repository.textOf(citation.path)
  const found = text === null ? null : compareCitation({ ...plain, hash }, bareLines(text), sha256)
  if (found === null || found.state === 'changed')
    return { ...citation, changed_at: since ?? repository.changedAt(citation.path) }
  return found.state === 'moved' ? { ...plain, lines: found.lines } : plain
}

/**
 * Marks memories of a thread whose source changed, and corrects the lines of those whose source moved.
 *
 * @param {string} url
 * @param {string} thread
 * @param {Repository} repository
 * @param {typeof import('./library')} library
 * @returns {Promise<{ id: number, title: string }[]>} memories that are marked now and were not before
 * @throws {Error} with the server's message
 */
export async function markChanged(url, thread, repository, library) {
  const marked = []
  for (const { id, metadata } of await memoriesOf(url, thread)) {
    const before = library.citationsOf(metadata)
    // Sources of other forms are not ours to write again.
    if (before.length === 0 || before.length !== metadata?.sources.length) continue
    const after = before.map((citation) => current(citation, repository, library))
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    await askCore(url, 'update_context', { context_id: id, metadata_patch: { sources: after } }, 'threads')
    if (after.some(({ changed_at: at }, i) => at !== undefined && before[i]?.changed_at === undefined))
      marked.push({ id, title: String(metadata?.title ?? id) })
  }
  return marked
}
