// Puts a collection into a server.
import { progress } from '../support/progress.mjs'

const BATCH = 100

/**
 * Stores the documents in their order. The server keeps one entry where a text repeats the newest of its thread and
 * source, so several documents may share an id; both sides of every comparison speak of these units.
 *
 * @param {import('../support/mcp.mjs').Client} client
 * @param {import('./collection.mjs').Collection} collection
 * @param {((document: {thread: string}) => object) | undefined} metadataOf of each document; none when left out
 * @returns {Promise<{unitOf: Map<string, number>, refused: number}>} entry by document; documents that were not stored
 */
export async function storeCollection(client, { name, documents }, metadataOf = undefined) {
  const bar = progress(`${name}, storing`, documents.length)
  const unitOf = new Map()
  for (let from = 0; from < documents.length; from += BATCH) {
    const batch = documents.slice(from, from + BATCH)
    const entries = batch.map(({ thread, source, text }) => ({
      ...{ thread_id: thread, source, text },
      ...(metadataOf === undefined ? {} : { metadata: metadataOf({ thread }) }),
    }))
    const { content } = await client.call('store_context_batch', { entries, atomic: false })
    for (const { index, success, context_id: id } of content.results) if (success) unitOf.set(batch[index].id, id)
    bar.tick(batch.length)
  }
  const refused = documents.length - unitOf.size
  bar.finish(`${new Set(unitOf.values()).size} entries`)
  return { unitOf, refused }
}
