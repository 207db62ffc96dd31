import type { Family } from '../family'
import { threads } from '../threads/family'

/** Tool names that `/mcp/core` served in earlier releases, each with the call that replaces it. */
export const FORMER_NAMES: Readonly<Record<string, string>> = {
  hybrid_search_context: 'search',
  fts_search_context: 'search with mode "words"',
  semantic_search_context: 'search with mode "meaning"',
  grep_context: 'search with mode "exact" or "regex"',
  search_context: 'search without query',
  get_context_by_ids: 'fetch with ids',
  read_context_range: 'fetch with lines, heading or around',
  navigate_context: 'fetch with heading',
  update_context: 'update',
  delete_context: 'forget',
  restore_context: 'restore',
  get_context_history: 'history',
  list_changes: 'changes',
  list_threads: 'search with thread, or changes',
  store_context: 'remember',
  context_store: 'remember',
  context_recall: 'search',
  context_get: 'fetch',
  context_update: 'update',
  context_delete: 'forget',
  context_list: 'search without query',
  context_orient: 'changes, or context without goal',
}

/** Names of family tools and arguments in messages of shared services, each with the name in the core tools. */
const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(FORMER_NAMES).map(([name, call]) => [name, (call.split(' ')[0] ?? '').replace(',', '')]),
  ),
  metadata_patch: 'metadata',
  context_ids: 'ids',
  context_id: 'id',
}

/** Replaces names of family tools in a message with the names of the core tools. */
export const inCoreWords = (text: string): string =>
  text.replaceAll(/[a-z_]+/g, (word) => (Object.hasOwn(WORDS, word) ? (WORDS[word] as string) : word))

/** The ten tools of `/mcp/core` (core contract): one vocabulary and lean results. Errors have the shape of the threads family. */
export const core: Family = {
  ...threads,
  name: 'core',
  tokens: 2_300,
  parse: { leaves: () => false },
  failure(problem) {
    const { structured, text } = threads.failure(problem)
    const { error } = structured
    const message = inCoreWords(problem.message)
    return {
      structured: { ...structured, error: { ...(error as Record<string, unknown>), message } },
      text: `${message}${text.slice(problem.message.length)}`,
    }
  },
  instructions:
    'Shared memory of your team. Call context with your goal before you start or resume work. Call remember for what ' +
    'others should not have to learn again: decisions, gotchas, rules, plans, finished work; in replaces, list the IDs ' +
    'of memories that it makes obsolete. If the answer has may_replace, make the call in judge that is true. ' +
    'Call search to answer a question, fetch to read a complete memory, restore to undo an update or a forget.',
}
