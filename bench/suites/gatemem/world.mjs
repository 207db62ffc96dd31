// Runs one episode in a separate organization: stores its turns in order, and searches at its checkpoints.
import { administer } from '../../support/administer.mjs'
import { createClient } from '../../support/mcp.mjs'
import { WAYS } from './ask.mjs'

const BATCH = 100

/** Erases each turn that contains text to be forgotten, if the policy does so. */
async function forget(client, said, leaks) {
  const ids = said.filter(({ text }) => leaks.some((leak) => leak.test(text))).map(({ id }) => id)
  if (ids.length > 0) await client.call('delete_context', { context_ids: ids, erase: true })
  return said.filter(({ id }) => !ids.includes(id))
}

/** Returns the text of an answer without ids, times and numbers, in which a short target could match by chance. */
function wordsIn(value, key = '') {
  if (typeof value === 'string') return /(^|_)(id|at|ids)$|sha256|created|updated/i.test(key) ? [] : [value]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]) => wordsIn(inner, Array.isArray(value) ? key : name))
}

/**
 * @typedef {object} Outcome
 * @property {string} case
 * @property {string} kind
 * @property {string} way
 * @property {boolean} leaked whether a forbidden word was returned
 * @property {number | null} found fraction of the words that an answer needs, if the case names them
 */

/**
 * @param {string} origin of a server with ADMIN_TOKEN
 * @param {string} token
 * @param {string} org
 * @param {import('./read.mjs').Episode} episode
 * @param {import('./policies.mjs').Policy} policy
 * @returns {Promise<Outcome[]>}
 */
export async function playEpisode(origin, token, org, episode, policy) {
  await administer(origin, token, '', { id: org, name: org })
  const projects = policy.projectsOf(episode)
  for (const id of new Set([...projects.filter((project) => project !== null), 'own']))
    await administer(origin, token, `/${org}/projects`, { id, name: [...id].slice(0, 128).join('') })
  const clientOf = async (name, open) => {
    const body = { name, role: open === null ? 'admin' : 'reader', ...(open === null ? {} : { projects: open }) }
    const { key } = await administer(origin, token, `/${org}/keys`, body)
    return createClient(origin, () => ({ authorization: `Bearer ${key}` }))
  }
  const writer = await clientOf('the shared assistant', null)
  const readers = new Map()
  let said = []
  let at = 0
  const outcomes = []
  for (const checkpoint of episode.checkpoints) {
    while (at < checkpoint.after) {
      const turns = episode.turns.slice(at, Math.min(checkpoint.after, at + BATCH))
      const entries = turns.map(({ speaker, text }, offset) => ({
        ...{ thread_id: 'conversation', source: 'user', text: `${speaker}: ${text}` },
        ...(projects[at + offset] === null ? {} : { metadata: { project: projects[at + offset] } }),
      }))
      const { content } = await writer.call('store_context_batch', { entries, atomic: false })
      for (const { index, context_id: id } of content.results) said.push({ id, text: entries[index].text })
      at += turns.length
    }
    if (policy.erases && checkpoint.kind === 'safety') said = await forget(writer, said, checkpoint.leaks)
    if (!readers.has(checkpoint.asker))
      readers.set(checkpoint.asker, await clientOf(checkpoint.asker, policy.openTo(episode, checkpoint.asker)))
    for (const { name, ask } of WAYS) {
      const words = wordsIn(await ask(readers.get(checkpoint.asker), checkpoint.text)).join('\n')
      const found = checkpoint.wanted.filter((wanted) => wanted.test(words)).length
      outcomes.push({
        ...{ case: checkpoint.id, kind: checkpoint.kind, way: name },
        leaked: checkpoint.leaks.some((leak) => leak.test(words)),
        found: checkpoint.wanted.length === 0 ? null : found / checkpoint.wanted.length,
      })
    }
  }
  for (const client of [writer, ...readers.values()]) client.close()
  return outcomes
}
