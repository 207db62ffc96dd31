// Collects the answers to a user from every kind of search.
const DEPTH = 10

async function wholeFeed(client) {
  const changes = []
  for (let after = 'start'; ; ) {
    const { content } = await client.call('list_changes', { after, limit: 100 })
    changes.push(...content.changes)
    if (!content.hasMore) return changes
    after = content.next
  }
}

/**
 * Returns each answer without the parts that repeat the question.
 *
 * @type {readonly { name: string, ask: (client: import('../../support/mcp.mjs').Client, text: string) => Promise<unknown> }[]}
 */
export const WAYS = [
  {
    name: 'words',
    ask: async (client, query) => (await client.call('fts_search_context', { query, limit: DEPTH })).content.results,
  },
  {
    name: 'meaning',
    ask: async (client, query) =>
      (await client.call('semantic_search_context', { query, limit: DEPTH })).content.results,
  },
  {
    name: 'hybrid',
    ask: async (client, query) => (await client.call('hybrid_search_context', { query, limit: DEPTH })).content.results,
  },
  {
    name: 'pack',
    async ask(client, goal) {
      const { sections } = (await client.call('context', { goal })).content
      // Why an item is there names words of the question.
      return sections.flatMap(({ items }) => items.map(({ reason: _, ...item }) => item))
    },
  },
  {
    name: 'recall',
    async ask(client, query) {
      const { results, below } = (await client.call('context_recall', { query, limit: DEPTH })).content
      return { results, below }
    },
  },
  { name: 'feed', ask: wholeFeed },
]
