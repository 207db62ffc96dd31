// `node bench/day/sizes.mjs [--memories 10000]`: counts the tokens of the largest default answer of each fabric tool in a large store of
// long memories, one of 300 KB, compared with the limit of the contract (fabric §1, guarantee 18). Exits with 1 if one is larger.
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, random, thousands } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { tokensOf } from './play.mjs'

const { values } = parseArgs({
  options: { memories: { type: 'string', default: '10000' }, port: { type: 'string', default: '8865' } },
})
const PROJECT = '/home/ada/app'
const BATCH = 100
const CALLS = 40
const LARGE = 300_000
const TYPES = ['decision', 'bug_fix', 'code_pattern', 'convention', 'scratchpad', 'relationship']
const WORDS =
  'cache queue worker token login schema index retry batch stream parser lock timeout header cookie session route render layout query join'.split(
    ' ',
  )
const wordsOf = (next, count) => Array.from({ length: count }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ')

const codeAt = (i, next) => {
  const path = `src/${WORDS[i % 7]}/${WORDS[i % WORDS.length]}.ts`
  const code = `export const ${WORDS[i % 20]}${i} = ${wordsOf(next, 60)}`
  return { fileContext: { path, language: 'typescript' }, codeBlock: { code, language: 'typescript', filePath: path } }
}

/** From a line to some pages, with title and tags as the contract counts them (fabric §1); each third has code, a further key. */
function memoryAt(i) {
  const next = random(i + 1)
  const text = i === 500 ? wordsOf(next, LARGE / 6) : wordsOf(next, 10 + Math.floor(400 * next() ** 2))
  return {
    type: TYPES[i % 6],
    content: `Memory ${i}. ${text}`,
    metadata: {
      title: `${wordsOf(next, 14)} ${i}`,
      tags: Array.from({ length: 8 }, (_, n) => `${WORDS[(i + n) % WORDS.length]}-${(i + n) % 40}`),
      ...(i % 3 === 0 ? codeAt(i, next) : {}),
    },
  }
}

async function fill(client, count) {
  const bar = progress(`${thousands(count)} memories`, count)
  for (let from = 0; from < count; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => {
      const { type, content, metadata } = memoryAt(from + n)
      const { tags, ...rest } = metadata
      const layer = n % 10 === 0 ? { layer: 3 } : {}
      return {
        ...{ thread_id: `project:${PROJECT}`, source: 'agent', text: content, tags },
        metadata: { ...rest, ...layer, kind: type, project: PROJECT },
      }
    })
    await client.call('store_context_batch', { entries })
    bar.tick(entries.length)
  }
  bar.finish()
}

/**
 * Default calls, `n` by `n`, and the token limit of each.
 *
 * @type {Record<string, [(n: number, ids: string[]) => Record<string, unknown>, (answer: any) => number]>}
 */
const DEFAULT = {
  context_recall: [(n) => ({ query: wordsOf(random(n + 1), 1 + (n % 9)), projectPath: PROJECT }), () => 2_000],
  context_list: [(n) => ({ projectPath: PROJECT, type: TYPES[n % 6] }), () => 2_500],
  context_getCurrent: [
    (n) => ({
      projectPath: PROJECT,
      currentFile: `src/${WORDS[n % 7]}/${WORDS[n % 20]}.ts`,
      currentCommand: 'npm test',
    }),
    () => 2_500,
  ],
  context_searchCode: [(n) => ({ query: wordsOf(random(n + 1), 2), projectPath: PROJECT }), () => 2_500],
  context_orient: [
    (n) => ({ projectPath: PROJECT, sessionId: `s${n}` }),
    ({ recentMemories }) => 300 + 50 * recentMemories.length,
  ],
  context_store: [(n) => ({ ...memoryAt(1_000_000 + n), projectPath: PROJECT }), () => 250],
  context_update: [(n, ids) => ({ memoryId: ids[n], content: memoryAt(2_000_000 + n).content }), () => 250],
  context_delete: [(n, ids) => ({ memoryId: ids[n] }), () => 250],
}

const workspace = createWorkspace()
const server = await startServer('workerd', {
  ...{ workspace, state: workspace.folder('state'), port: Number(values.port), vars: { LOG_LEVEL: 'ERROR' } },
})
const client = createClient(server.origin)
try {
  await fill(client, Number(values.memories))
  const files = WORDS.flatMap((word, i) => ({
    path: `src/${WORDS[i % 7]}/${word}.ts`,
    content: Array.from(
      { length: 900 },
      (_, line) => `export const ${word}${line} = '${wordsOf(random(line), 12)}'`,
    ).join('\n'),
  }))
  const sent = await fetch(`${server.origin}/api/v1/code/${encodeURIComponent(PROJECT)}/files`, {
    ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ files }) },
  })
  if (!sent.ok) throw new Error(`The code was not taken: ${await sent.text()}`)
  const { content: listed } = await client.call('context_list', { projectPath: PROJECT, limit: 100 })
  // The answer of an update also has the caller's own further keys.
  const ids = listed.memories.flatMap(({ id, metadata }) => (metadata.fileContext === undefined ? [id] : []))
  const rows = []
  for (const [tool, [args, allowed]] of Object.entries(DEFAULT)) {
    let [most, over] = [0, 0]
    for (let n = 0; n < CALLS; n++) {
      const { content } = await client.call(tool, args(n, ids))
      most = Math.max(most, tokensOf(content))
      if (tokensOf(content) > allowed(content)) over++
    }
    if (over > 0) process.exitCode = 1
    rows.push([tool, thousands(most), over])
  }
  console.log(markdownTable(['default call', 'largest answer of 40, tokens', 'above what it may take'], rows))
} finally {
  client.close()
  await server.stop()
  workspace.remove()
}
