// Stores beliefs, and searches for them.

/** The text that the suite's own adapter gives to every system. */
const textOf = ({ canonical_name: name, aliases = [], content, why_it_matters: why }) =>
  [name, ...aliases, content, why].filter(Boolean).join(' ')

const nameOf = ({ canonical_name: name }) => name.replaceAll('_', ' ')
const namesOf = (belief) => [nameOf(belief), ...(belief.aliases ?? [])]

const KINDS = {
  decision: 'decision',
  preference: 'rule',
  entity: 'topic',
  relation: 'relationship',
  open_question: 'task',
}
const MOST = 20

/** Ways to ask for a goal in one project. */
export const ASKED = {
  pack: async (client, goal, project, limit) => {
    const { content } = await client.call('context', { goal, project, limit: Math.max(1, limit) })
    return content.sections
      .flatMap(({ items }) => items.map(({ id, score }) => ({ id: Number(id), score })))
      .sort((a, b) => b.score - a.score)
  },
  recall: async (client, query, project, limit) => {
    const { content } = await client.call('context_recall', { query, projectPath: project, limit })
    return content.results.map(({ memory, similarity }) => ({ id: Number(memory.id), score: similarity }))
  },
  hybrid: async (client, query, project, limit) => {
    const { content } = await client.call('hybrid_search_context', {
      ...{ query, limit },
      metadata: { project },
    })
    return content.results.map(({ id, scores }) => ({ id, score: scores.fused }))
  },
}

/** Names of the suite and ids of the store. */
const names = () => {
  const [ids, beliefs] = [new Map(), new Map()]
  return {
    idOf: (belief) => ids.get(belief),
    note(belief, id) {
      ids.set(belief, id)
      beliefs.set(id, belief)
    },
    beliefOf: (id) => beliefs.get(id),
  }
}

/** One text a belief, as the suite gives it to everybody; the user is the project. */
function generic(client, ask) {
  const known = names()
  return {
    async add(belief) {
      const { content } = await client.call('store_context', {
        ...{ thread_id: `beliefs of ${belief.user_id}`, source: 'agent', text: textOf(belief) },
        metadata: { project: belief.user_id, belief: belief._id, scope: belief.scope[0] },
      })
      known.note(belief._id, content.context_id)
    },
    async rename(belief) {
      await client.call('update_context', { context_id: known.idOf(belief._id), text: textOf(belief) })
    },
    async search({ user }, query, limit) {
      const hits = await ask(client, query, user, limit)
      return hits.flatMap(({ id }) => known.beliefOf(id) ?? [])
    },
  }
}

/**
 * Converts a belief to our format: its scope as a project, its kind, its name as title, its other names as `metadata.aliases`,
 * superseded and related beliefs as links, settled questions as archived work. Open questions have a separate tier.
 */
function telling(client, ask) {
  const known = names()
  const projectOf = (user, scope) => `${user}/${scope}`
  return {
    routes: true,
    async add(belief) {
      const links = [
        ...(belief.replaces ?? []).map((id) => `supersedes:${known.idOf(id)}`),
        ...(belief.participants ?? []).flatMap((id) =>
          known.idOf(id) === undefined ? [] : [`related_to:${known.idOf(id)}`],
        ),
      ]
      const { content } = await client.call('remember', {
        title: nameOf(belief),
        content: belief.content,
        kind: KINDS[belief.type],
        project: projectOf(belief.user_id, belief.scope[0]),
        ...(belief.type === 'open_question' ? { status: belief.resolved_at ? 'archived' : 'todo' } : {}),
        ...(links.length > 0 ? { related_to: links } : {}),
        metadata: { aliases: namesOf(belief), why: belief.why_it_matters },
      })
      known.note(belief._id, Number(content.id))
    },
    async rename(belief) {
      await client.call('update_context', {
        ...{ context_id: known.idOf(belief._id), metadata_patch: { aliases: namesOf(belief) } },
      })
    },
    async search({ user, scope, questions }, query, limit) {
      const found = []
      for (const one of scope) found.push(...(await ask(client, query, projectOf(user, one), Math.min(MOST, limit))))
      const beliefs = found.sort((a, b) => b.score - a.score).flatMap(({ id }) => known.beliefOf(id) ?? [])
      return beliefs.filter((id) => !questions.has(id)).slice(0, limit)
    },
  }
}

export const ADAPTERS = { generic, telling }
