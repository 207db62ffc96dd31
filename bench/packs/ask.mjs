// The ways to query a goal: packs of two sizes, and the flat searches for comparison.
import { facetOf } from './gold.mjs'
import { isMarked, tokensOf } from './judge.mjs'

/** As long as an item of a pack is shown (packs contract), so that the tokens of both are counted alike. */
const SHOWN = 1500
/** Results of a flat search: more than any pack holds. */
const DEEP = 60

/** @param {any} world @param {import('./gold.mjs').Goal} asked @param {number} limit */
async function pack({ client }, { goal, intent, project, agent, limit: small, maxTokens }, limit) {
  return client.call('context', {
    ...{ goal, intent, project, limit: small ?? limit },
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
  })
}

const asPack = (limit) => async (world, goal) => {
  const { ms, content } = await pack(world, goal, limit)
  const items = content.sections.flatMap(({ facet, items: of }) =>
    of.map(({ id, name, content: text, score, reason }) => ({
      name: world.nameOf(id),
      tokens: tokensOf(name ?? '', text),
      facet,
      score,
      marked: isMarked(reason),
    })),
  )
  return { ms, sections: content.sections.map(({ facet }) => facet), items, markdown: content.markdown }
}

/**
 * A flat search as a careful caller would use it: the project's entries and those of no project. It does not know what is
 * superseded, so it may show that.
 */
const asFlat = (tool) => async (world, goal) => {
  const { ms, content } = await world.client.call(tool, { query: goal.goal, limit: DEEP })
  const items = content.results
    .filter(({ metadata }) => metadata?.project === undefined || metadata.project === goal.project)
    .map(({ id, metadata, text_content: text }) => ({
      name: world.nameOf(id),
      tokens: tokensOf(metadata?.title ?? '', text.slice(0, SHOWN)),
      facet: facetOf({ kind: metadata?.kind, status: metadata?.status }),
    }))
  return { ms, sections: [], items }
}

export const ask = { pack }

export const LEGS = {
  'pack of 12': asPack(12),
  'pack of 24': asPack(24),
  hybrid: asFlat('hybrid_search_context'),
  words: asFlat('fts_search_context'),
}
