// Reads memories that cite lines, and stores where these lines are now.
import { askCore } from '../memory/commands.mjs'

const PAGE = 100

/** @typedef {import('./compare.mjs').Compared} Compared */
/** @typedef {{ id: number, version: number, metadata: Record<string, any> | null }} Memory */
/**
 * @typedef {object} Checked
 * @property {number} id
 * @property {string} title
 * @property {Compared[]} sources
 * @property {boolean} isStored whether the memory was updated
 * @property {boolean} isNewlyChanged whether a source counts as changed that did not before
 * @property {string} [problem] the reason why it could not be updated
 */

/**
 * Returns every memory with sources that the key can read and a filter selects.
 *
 * @param {string} url @param {Record<string, unknown>} filter arguments of `search_context`
 * @returns {Promise<Memory[]>}
 */
export async function memoriesWith(url, filter) {
  const { metadata_filters: filters = [], ...rest } = /** @type {any} */ (filter)
  const sources = { key: 'sources', operator: 'exists' }
  /** @type {Memory[]} */
  const memories = []
  for (;;) {
    const args = { ...rest, metadata_filters: [sources, ...filters], limit: PAGE, offset: memories.length }
    const { results, has_more: isMore } = await askCore(url, 'search_context', args, 'threads')
    memories.push(...results)
    if (!isMore || results.length === 0) return memories
  }
}

/**
 * Compares the sources of memories with files, and stores what changed, each memory in a call of its own: one that cannot be updated
 * does not stop the others.
 *
 * @param {string} url
 * @param {readonly Memory[]} memories
 * @param {(citation: import('./compare.mjs').Citation) => Compared} compare
 * @param {Pick<typeof import('./library'), 'readCitation'>} library
 * @param {boolean} [isDry] whether nothing is stored
 * @returns {Promise<Checked[]>} memories with at least one citation
 */
export async function checkMemories(url, memories, compare, { readCitation }, isDry = false) {
  const checked = []
  for (const { id, version, metadata } of memories) {
    const before = Array.isArray(metadata?.sources) ? metadata.sources : []
    /** @type {Compared[]} */
    const sources = []
    // Elements of other forms stay as they are.
    const after = before.map((/** @type {any} */ value) => {
      const citation = readCitation(value)
      if (citation === null) return value
      const compared = compare(citation)
      sources.push(compared)
      return compared.after
    })
    if (sources.length === 0) continue
    const isDifferent = JSON.stringify(before) !== JSON.stringify(after)
    const isNewlyChanged = sources.some(
      (one) => one.after.changed_at !== undefined && one.before.changed_at === undefined,
    )
    /** @type {Checked} */
    const result = {
      id,
      title: String(metadata?.title ?? id),
      sources,
      isStored: isDifferent && !isDry,
      isNewlyChanged,
    }
    if (isDifferent && !isDry)
      try {
        const patch = { context_id: id, metadata_patch: { sources: after }, expected_version: version }
        await askCore(url, 'update_context', patch, 'threads')
      } catch (error) {
        result.isStored = false
        result.problem = /** @type {Error} */ (error).message
      }
    checked.push(result)
  }
  return checked
}
