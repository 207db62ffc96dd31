/** A call of each tool, in an order in which each has what it needs; docs/tools.md shows the first of each with its answer. */
export const EXAMPLES: readonly (readonly [name: string, args: Record<string, unknown>])[] = [
  [
    'store_context',
    {
      ...{ thread_id: 'release-1.4', source: 'agent', text: 'The flaky login test waits for the wrong selector.' },
      ...{ tags: ['tests'], metadata: { project: 'ferry', kind: 'gotcha' } },
    },
  ],
  [
    'store_context_batch',
    {
      entries: [
        { thread_id: 'release-1.4', source: 'user', text: 'Which tests are flaky?' },
        {
          thread_id: 'night-run',
          source: 'agent',
          text: '# Monday\n312 tests passed.\n# Tuesday\nThe ledger timed out.',
        },
      ],
    },
  ],
  ['search_context', { thread_id: 'release-1.4', limit: 2 }],
  ['fts_search_context', { query: 'login flaky', highlight: true }],
  ['semantic_search_context', { query: 'unreliable sign-in test', limit: 1 }],
  ['hybrid_search_context', { query: 'Why is the login test flaky?', limit: 1 }],
  ['get_context_by_ids', { context_ids: [1] }],
  ['grep_context', { pattern: 'ledger' }],
  ['navigate_context', { context_id: 3 }],
  ['read_context_range', { context_id: 3, start_line: 3, end_line: 4 }],
  ['update_context', { context_id: 1, metadata_patch: { status: 'done' }, expected_version: 1 }],
  ['update_context_batch', { updates: [{ context_id: 2, tags: ['question'] }] }],
  ['list_threads', {}],
  ['get_statistics', {}],
  [
    'remember',
    {
      ...{ title: 'Tokens rotate', content: 'Access tokens last 15 minutes; each refresh token works once.' },
      ...{ kind: 'decision', project: 'ferry', related_to: ['references:1'] },
    },
  ],
  ['context', { goal: 'sign out stolen phones', project: 'ferry' }],
  [
    'core:remember',
    {
      ...{ title: 'Refunds carry a key', content: 'A retried refund paid twice; the key is the booking id.' },
      ...{ kind: 'decision', project: 'ferry', tags: ['payments'] },
    },
  ],
  ['core:context', { goal: 'make refunds safe to retry', project: 'ferry' }],
  ['core:search', { query: 'why did a refund pay twice?', project: 'ferry', limit: 1 }],
  ['core:fetch', { id: 5 }],
  ['core:update', { id: 5, title: 'Refunds carry an idempotency key', status: 'done' }],
  ['core:history', { id: 5 }],
  ['core:changes', { since: '1 hour ago', limit: 2 }],
  ['core:projects', {}],
  ['core:forget', { ids: [5] }],
  ['core:restore', { id: 5 }],
  ['list_changes', { limit: 2 }],
  ['get_context_history', { context_id: 1, include_diff: true }],
  ['delete_context', { context_ids: [2] }],
  ['restore_context', { context_ids: [2] }],
  ['delete_context_batch', { thread_ids: ['night-run'], source: 'agent' }],
  [
    'context_store',
    { type: 'code_pattern', content: 'Wrap every query in withTenant().', metadata: { projectPath: 'ferry' } },
  ],
  ['context_orient', { projectPath: 'ferry', expression: 'next monday' }],
  ['context_get', { memoryId: '4' }],
  ['context_update', { memoryId: '5', content: 'Wrap every query in withTenant(), reads too.' }],
  ['context_list', { layer: 2, projectPath: 'ferry' }],
  ['context_recall', { query: 'tenant queries', threshold: 0 }],
  ['context_getCurrent', { projectPath: 'ferry', currentFile: 'src/users.ts' }],
  [
    'context_reportEvent',
    {
      event: {
        ...{ type: 'error_occurred', payload: { error: 'TypeError: user.email is undefined', file: 'src/users.ts' } },
        ...{ timestamp: '2026-11-22T04:46:00Z', sessionId: 's2', cliType: 'claude-code', projectPath: 'ferry' },
      },
    },
  ],
  ['context_summarize', { projectPath: 'ferry', options: { targetTokens: 2000 } }],
  ['context_searchCode', { query: 'withTenant', mode: 'text', projectPath: 'ferry' }],
  ['context_setup', { cli: 'codex' }],
  ['context_delete', { memoryId: '5' }],
]
