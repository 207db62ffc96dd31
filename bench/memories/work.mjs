// Data and calls for measuring memories: a project's memories, a tenth of them in layer 3, and calls of the fabric tools
// paired with equivalent threads tools.
import { random, thousands } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'

const PROJECT = '/home/ada/app'
const BATCH = 100
const TYPES = ['decision', 'bug_fix', 'code_pattern', 'convention', 'scratchpad', 'relationship']
const LANGUAGES = ['typescript', 'python', 'go', 'rust']
const WORDS =
  'cache queue worker token login schema index retry batch stream parser lock timeout header cookie session route render layout query join trigger vector chunk merge branch deploy rollback metric alert budget limit page cursor offset tag filter'.split(
    ' ',
  )
/** A tenth of the memories belongs to the organization. */
const SEMANTIC = 10
const wordsOf = (next, count) =>
  Array.from({ length: count }, () => WORDS[Math.floor(next() ** 2 * WORDS.length)]).join(' ')

/** One memory: some sentences, two tags, for a third of them a file and code. */
function memoryAt(i) {
  const next = random(i + 1)
  const file = `src/${WORDS[i % 20]}/${WORDS[(i * 7) % WORDS.length]}${i % 50}.ts`
  const code = {
    code: `export const ${WORDS[i % 30]}${i} = () => ${wordsOf(next, 3).replaceAll(' ', '(')}`,
    language: LANGUAGES[i % 4],
  }
  return {
    type: TYPES[i % 6],
    content: `We found that ${wordsOf(next, 12)}. Then ${wordsOf(next, 14)} number ${i}.`,
    tags: [`area-${i % 40}`, `team-${i % 7}`],
    title: `${WORDS[i % WORDS.length]} ${i}`,
    ...(i % 3 === 0
      ? { fileContext: { path: file, language: LANGUAGES[i % 4] }, codeBlock: { ...code, filePath: file } }
      : {}),
  }
}

const metadataOf = ({ type: _, content: __, ...metadata }) => metadata

async function fill(client, from, to) {
  const bar = progress(`${thousands(to)} memories`, to - from)
  let batch = []
  const flush = async () => {
    if (batch.length > 0) await client.call('store_context_batch', { entries: batch })
    batch = []
  }
  for (let i = from; i < to; i++) {
    const memory = memoryAt(i)
    const { tags, ...metadata } = metadataOf(memory)
    if (i % SEMANTIC === 0)
      await client.call('context_store', {
        ...{ type: memory.type, content: memory.content, layer: 3 },
        metadata: { ...metadata, tags, projectPath: PROJECT },
      })
    else
      batch.push({
        ...{ thread_id: `project:${PROJECT}`, source: 'agent', text: memory.content, tags },
        metadata: { ...metadata, kind: memory.type, project: PROJECT },
      })
    if (batch.length === BATCH) await flush()
    bar.tick(1)
  }
  await flush()
  bar.finish()
}

let stored = 1_000_000
const question = (n) => wordsOf(random(7_919 * (n + 1)), 3)

/** The measured calls, paired where an equivalent threads tool exists. */
export const CASES = [
  {
    name: 'store a memory',
    tool: 'context_store',
    args: () => ({
      type: 'decision',
      content: memoryAt(++stored).content,
      metadata: { ...metadataOf(memoryAt(stored)), projectPath: PROJECT },
    }),
  },
  {
    name: '— store_context',
    tool: 'store_context',
    args: () => ({
      thread_id: 'plain',
      source: 'agent',
      text: memoryAt(++stored).content,
      tags: ['plain'],
      metadata: { project: PROJECT },
    }),
  },
  ...['keyword', 'semantic', 'hybrid'].flatMap((mode) => [
    {
      name: `recall, ${mode}`,
      tool: 'context_recall',
      args: (n) => ({ query: question(n), mode, filter: { projectPath: PROJECT } }),
    },
    {
      name: `recall, ${mode}, threshold 0`,
      tool: 'context_recall',
      args: (n) => ({ query: question(n), mode, threshold: 0, filter: { projectPath: PROJECT } }),
    },
    {
      name: `— ${{ keyword: 'fts', semantic: 'semantic', hybrid: 'hybrid' }[mode]}_search_context`,
      tool: `${{ keyword: 'fts', semantic: 'semantic', hybrid: 'hybrid' }[mode]}_search_context`,
      args: (n) => ({ query: question(n), limit: 10 }),
    },
  ]),
  {
    name: 'list by type with offset',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, type: TYPES[n % 6], offset: 50 }),
  },
  {
    name: 'list by two tags',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, tags: [`area-${n % 40}`, `team-${n % 7}`] }),
  },
  {
    name: 'list by type and tag',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, type: TYPES[n % 6], tags: [`area-${n % 40}`] }),
  },
  { name: 'list stats', tool: 'context_list', args: () => ({ projectPath: PROJECT, stats: true }) },
  {
    name: 'getCurrent',
    tool: 'context_getCurrent',
    args: (n) => ({
      projectPath: PROJECT,
      sessionId: 's',
      currentFile: `src/${WORDS[n % 20]}/${WORDS[(n * 7) % WORDS.length]}${n % 50}.ts`,
      currentCommand: 'npm test',
    }),
  },
  { name: 'a pack', tool: 'context', args: (n) => ({ goal: question(n), project: PROJECT }) },
  { name: 'an empty call', tool: 'context_setup', args: () => ({ cli: 'codex', preview: true }) },
]

const SETTLE = 20

/** Fills a store up to a size, from another size on. */
export async function fillTo(client, from, size) {
  await fill(client, from, size)
  for (let n = 0; n < SETTLE; n++)
    await client.call('context_store', {
      type: 'scratchpad',
      content: memoryAt(n).content,
      metadata: { projectPath: PROJECT, sessionId: 's', tags: [] },
    })
}
