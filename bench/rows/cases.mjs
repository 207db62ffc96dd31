// The calls whose trips and rows are counted: every tool that reads or writes entries, and the shapes of calls that cost most.
import { commonWords, entryAt, projectOf, rareWord, textAt } from './corpus.mjs'

/**
 * @param {number} size entries in the store
 * @param {readonly number[]} ids
 * @returns {{ name: string, tool: string, args: (n: number) => Record<string, unknown> }[]}
 */
export function casesFor(size, ids) {
  let at = size
  let taken = 0
  const take = () => ids[(++taken * 37) % ids.length]
  const plain = (i) => ({ ...entryAt(i, size), metadata: { status: 'done' } })
  const search = (tool, name, args) => ({ name: `${tool}, ${name}`, tool, args })
  const common = (n) => ({ query: commonWords(n, 3), limit: 10 })
  const rare = (n) => ({ query: rareWord(n, size), limit: 10 })
  let sent = 0
  /** Events of Claude Code's hooks, of one session or of a new one each time. */
  const hook = (name, events, isNew = false) => ({
    name: `a hook, ${name}`,
    tool: '/api/v1/hooks/claude-code',
    args: (n) => {
      const session = isNew ? `s${++sent}` : 's'
      const all = events(n).map((event) => ({
        id: `${process.pid}-${++sent}`,
        at: Date.now(),
        event: { session_id: session, cwd: '/w', tool_use_id: `t${sent}`, prompt_id: `p${sent}`, ...event },
        place: { folder: '/w', project: projectOf(n) },
      }))
      return { events: all, answer: all.at(-1)?.id }
    },
  })
  const ran = {
    ...{ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'npm test' } },
    tool_response: { stdout: 'ok' },
  }
  return [
    { name: 'store_context, two tags and one key', tool: 'store_context', args: () => plain(at++) },
    {
      name: 'store_context_batch of 100',
      tool: 'store_context_batch',
      args: () => ({ entries: Array.from({ length: 100 }, () => plain(at++)) }),
    },
    {
      name: 'context_store',
      tool: 'context_store',
      args: () => ({
        type: 'decision',
        content: textAt(at++, size),
        metadata: { tags: ['area-1', 'team-1'], projectPath: projectOf(at) },
      }),
    },
    {
      name: 'remember',
      tool: 'remember',
      args: () => ({ title: `Memory ${at}`, content: textAt(at++, size), kind: 'decision', project: projectOf(at) }),
    },
    {
      name: 'update_context, text',
      tool: 'update_context',
      args: () => ({ context_id: take(), text: textAt(at++, size) }),
    },
    {
      name: 'update_context, metadata_patch',
      tool: 'update_context',
      args: (n) => ({ context_id: take(), metadata_patch: { checked: n + at++ } }),
    },
    search('search_context', 'newest', () => ({})),
    search('search_context', 'a tag of 1 in 7', (n) => ({ tags: [`area-${n % 7}`] })),
    search('search_context', 'a thread', (n) => ({ thread_id: `thread ${n}` })),
    search('search_context', 'status', () => ({ metadata: { status: 'done' } })),
    search('fts_search_context', 'three common words', common),
    search('fts_search_context', 'a rare word', rare),
    search('fts_search_context', 'six common words', (n) => ({ query: commonWords(n, 6), limit: 10 })),
    search('fts_search_context', 'six words, a status', (n) => ({
      query: commonWords(n, 6),
      metadata: { status: 'done' },
      limit: 10,
    })),
    search('fts_search_context', 'a phrase of two', (n) => ({ query: commonWords(n, 2), mode: 'phrase' })),
    search('semantic_search_context', 'three common words', common),
    search('hybrid_search_context', 'three common words', common),
    search('context_recall', 'in a project', (n) => ({
      query: `${commonWords(n, 2)} ${rareWord(n, size)}`,
      filter: { projectPath: projectOf(n) },
    })),
    search('context', 'three common words', (n) => ({ goal: commonWords(n, 3) })),
    search('context', 'wake', (n) => ({ goal: commonWords(n, 3), layer: 'wake', project: projectOf(n) })),
    search('context_getCurrent', 'of a project', (n) => ({ projectPath: projectOf(n), sessionId: 's' })),
    search('context_orient', 'of a project', (n) => ({ projectPath: projectOf(n) })),
    search('context_list', 'of a project', (n) => ({ projectPath: projectOf(n) })),
    search('get_context_by_ids', 'five', () => ({ context_ids: [take(), take(), take(), take(), take()] })),
    search('grep_context', 'a literal', (n) => ({ pattern: rareWord(n, size) })),
    search('read_context_range', 'ten lines', () => ({ context_id: take(), start_line: 1, end_line: 10 })),
    search('get_context_history', 'of an entry', () => ({ context_id: take() })),
    { name: 'list_threads', tool: 'list_threads', args: () => ({}) },
    { name: 'get_statistics', tool: 'get_statistics', args: () => ({}) },
    { name: 'list_changes, a first cursor', tool: 'list_changes', args: () => ({}) },
    hook('the start of a session', () => [{ hook_event_name: 'SessionStart', source: 'startup' }]),
    hook('a prompt', (n) => [
      { hook_event_name: 'UserPromptSubmit', prompt: `${commonWords(n, 2)} ${rareWord(n, size)}` },
    ]),
    hook('a use of a tool', () => [ran]),
    hook('what a turn writes', () => [ran, { hook_event_name: 'Stop', last_assistant_message: 'Done.' }], true),
    { name: 'delete_context, one', tool: 'delete_context', args: () => ({ context_ids: [take()] }) },
  ]
}
