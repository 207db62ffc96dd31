// A store of many short entries, where most queries match all of them.
import { progress } from '../support/progress.mjs'

const BATCH = 100
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** Different images: their bytes cost nothing, their uses do. */
const IMAGES = 500

const imageOf = (i) => Buffer.concat([PNG, Buffer.from(String(i % IMAGES))]).toString('base64')

/**
 * A third in one thread, a third in threads of their own, the others in 400 threads; all with one tag, half with another, a sixth with a
 * tag of their own; a third in flight; a sixth with an image; a third refers to the first entry.
 */
function entryAt(i) {
  const thread_id = ['one', `own ${i}`, `group ${i % 400}`][i % 3]
  const tags = ['common', ...(i % 2 === 0 ? ['half'] : []), ...(i % 6 === 1 ? [`tag ${i}`] : [])]
  const metadata = {
    n: i,
    status: i % 3 === 0 ? 'doing' : 'todo',
    agent_name: `agent ${i % 4}`,
    ...(i % 4 < 2 ? { project: `p${i % 4}` } : {}),
    ...(i % 5 === 0 ? { kind: ['task', 'decision', 'gotcha', 'rule'][(i / 5) % 4] } : {}),
    ...(i % 3 === 1 && i > 1000 ? { references: { context_ids: [1] } } : {}),
  }
  const images = i % 6 === 0 ? { images: [{ data: imageOf(i / 6), mime_type: 'image/png' }] } : {}
  return {
    thread_id,
    source: i % 2 === 0 ? 'user' : 'agent',
    text: `short note number ${i} about the deployment`,
    tags,
    metadata,
    ...images,
  }
}

/** Memories of layers 2 and 3, half of each in a project; a fifth code patterns of one file. */
function memoryAt(i) {
  const tags = ['common', ...(i % 2 === 0 ? ['half'] : [])]
  const fileContext = i % 5 === 0 ? { fileContext: { path: 'src/app.ts', lineStart: 1, lineEnd: 2 } } : {}
  return {
    type: ['decision', 'convention', 'bug_fix', 'code_pattern', 'scratchpad'][(i + 2) % 5],
    content: `memory number ${i} about the deployment`,
    layer: 2 + (i % 2),
    metadata: { tags, n: i, ...(i % 4 < 2 ? { projectPath: 'p0' } : {}), ...fileContext },
  }
}

/**
 * Fills the store up to a number of entries, a tenth of them memories, continuing from its content.
 *
 * @param {import('../support/mcp.mjs').Client} client
 * @param {number} size
 * @param {number} [most] entries to store at most
 */
export async function grow(client, size, most = size) {
  const { content } = await client.call('get_statistics', {})
  const from = content.total_entries
  const until = Math.min(size, from + most)
  const bar = progress('storing', until - from)
  for (let at = from; at < until; at += BATCH) {
    // Every tenth batch is of memories.
    if ((at / BATCH) % 10 === 9) for (let i = at; i < at + BATCH; i++) await client.call('context_store', memoryAt(i))
    else {
      const entries = Array.from({ length: BATCH }, (_, i) => entryAt(at + i))
      const { content: stored } = await client.call('store_context_batch', { entries })
      if (stored.succeeded !== BATCH) throw new Error(JSON.stringify(stored).slice(0, 300))
    }
    bar.tick(BATCH, '')
  }
  bar.finish()
}
