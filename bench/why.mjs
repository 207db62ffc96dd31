// `npm run bench -- why`: plants 40 misses of 8 causes in the histories of a gold set, and asks why each memory was not returned.
// The cause of a planted miss follows from how it was planted, never from an answer of `why`. See README.md.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { administer } from './support/administer.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'workerd' },
    port: { type: 'string', default: '18700' },
    models: { type: 'string', default: '18710' },
  },
})
const TOKEN = 'operator-of-this-bench-only'
const WANTED = 5
/** Planted for each cause at most. A planted memory that the call returns is not counted. */
const PLANTED = 8
const HOLDS_DOWN = 'zqx'
const DIMENSIONS = 64

/** A replacement for Ollama: a vector counts hashed words, and texts with a mark fail. */
function startModel(port) {
  const vectorOf = (text) => {
    const vector = new Array(DIMENSIONS).fill(0.01)
    for (const word of text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []) {
      let hash = 7
      for (const letter of word) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0
      vector[hash % DIMENSIONS] += 1
    }
    return vector
  }
  const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const text = Buffer.concat(parts).toString('utf8')
    if (text.includes(HOLDS_DOWN)) return response.writeHead(500).end('{"error": "down"}')
    const { model, input = [] } = text === '' ? {} : JSON.parse(text)
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ model, embeddings: [input].flat().map(vectorOf) }))
  })
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
const folder = fileURLToPath(new URL('./packs/harbour', import.meta.url).href)
const history = readdirSync(join(folder, 'history')).flatMap((name) => lines(join(folder, 'history', name)))
/** Plain memories of the history, which stay as they are. */
const NOISE = history.filter(({ by, text, links, expires_at: end }) => by === 'remember' && text && !links && !end)
const GOALS = lines(join(folder, 'goals.jsonl'))
const FILLER = NOISE.map(({ text }) => text)

/** The organization of one server, with the keys that a plant uses. */
async function openWorld(origin) {
  const { id: org } = await administer(origin, TOKEN, '', { id: `why-${Date.now().toString(36)}` })
  const keyOf = async (owner) =>
    (await administer(origin, TOKEN, `/${org}/keys`, { name: owner, role: 'writer', owner })).key
  const [ada, ben] = [await keyOf('ada'), await keyOf('ben')]
  const ask = async (key, path, body) => {
    const response = await fetch(`${origin}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return json
  }
  const call = async (key, name, args) => {
    const { result, error } = await ask(key, '/mcp/core', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: args },
    })
    if (result === undefined || result.isError) throw new Error(`${name}: ${JSON.stringify(result ?? error)}`)
    return result.structuredContent
  }
  const remember = async (memory, key = ada) => (await call(key, 'remember', { kind: 'note', ...memory })).id
  return { org, ada, ben, ask, call, remember }
}

/** A goal with words of its own, so that plants do not meet. */
const goalAt = (place) => GOALS[(place * 3) % GOALS.length].goal
const fillerAt = (place) => FILLER[(place * 7) % FILLER.length]
const wordsOf = (text) => [...new Set(text.toLowerCase().match(/\p{L}{5,}/gu) ?? [])]

/**
 * One planted miss: the memory, the call that does not return it, and the causes that count as right.
 *
 * @typedef {{ id: number, key: string, tool: 'context' | 'search', args: { query: string } & Record<string, string | number>, right: readonly string[] }} Plant
 */

/** @type {Record<string, (world: any, place: number) => Promise<Plant>>} */
const PLANTS = {
  // Private to its owner; another owner asks.
  async scope({ remember, ada, ben }, place) {
    const goal = goalAt(place)
    const id = await remember({ title: goal, content: `${goal}. ${fillerAt(place)}`, audience: 'private' }, ada)
    return { id, key: ben, tool: place % 2 === 0 ? 'context' : 'search', args: { query: goal }, right: ['not_found'] }
  },
  // The call names another project, or another kind.
  async filter({ remember, ada }, place) {
    const goal = goalAt(place)
    const id = await remember({ title: goal, content: `${goal}. ${fillerAt(place)}`, project: 'warehouse' })
    const isProject = place % 2 === 0
    const args = { query: goal, ...(isProject ? { project: 'quaymaster' } : { kind: 'decision' }) }
    return { id, key: ada, tool: place % 4 < 2 ? 'context' : 'search', args, right: [isProject ? 'project' : 'filter'] }
  },
  // A newer memory replaces it.
  async superseded({ remember, ada }, place) {
    const goal = goalAt(place)
    const id = await remember({ title: goal, content: `${goal}. ${fillerAt(place)}` })
    await remember({ title: `New: ${goal}`, content: `${fillerAt(place + 1)} ${goal}.`, replaces: [id] })
    return { id, key: ada, tool: 'context', args: { query: goal }, right: ['superseded'] }
  },
  // Three memories hold the goal and its title; this one holds half of its words, and the call shows two.
  async rank({ remember, ada }, place) {
    const goal = goalAt(place)
    for (const n of [1, 2, 3])
      await remember({
        title: `${goal} (${n})`,
        content: `${goal}. ${fillerAt(place + n)} ${fillerAt(place + n + 20)}`,
      })
    const words = wordsOf(goal)
    const half = words.slice(0, Math.ceil(words.length / 2)).join(' ')
    const id = await remember({ title: `Note ${place}`, content: `${half}: ${fillerAt(place + 9)}` })
    return { id, key: ada, tool: 'search', args: { query: goal, limit: 2 }, right: ['rank'] }
  },
  // A memory is the goal itself; this one holds one word of it.
  async cut({ remember, ada }, place) {
    const goal = goalAt(place)
    await remember({ title: goal, content: `${goal}. ${goal}.` })
    const [word = ''] = wordsOf(goal).toSorted((a, b) => a.length - b.length)
    const id = await remember({
      title: `Lunch ${place}`,
      content: `The canteen has soup on day ${place}, with ${word}.`,
    })
    return { id, key: ada, tool: 'context', args: { query: goal, limit: 24 }, right: ['cut'] }
  },
  // Three long memories hold all words of the goal, the answer has no tokens for all of them, and this is one that it leaves out.
  async budget({ remember, ada, call }, place) {
    const goal = goalAt(place)
    const ids = []
    for (const n of [1, 2, 3]) {
      const more = [0, 1, 2, 3].map((part) => fillerAt(place * 5 + n * 11 + part)).join(' ')
      ids.push(await remember({ title: `${goal} ${'abc'[n - 1]}`, content: `${goal}. ${more}`.slice(0, 1_400) }))
    }
    const { sections } = await call(ada, 'context', { goal, max_tokens: 300 })
    const shown = new Set(sections.flatMap(({ memories }) => memories).map(({ id }) => id))
    const id = ids.find((one) => !shown.has(one)) ?? ids[0]
    return { id, key: ada, tool: 'context', args: { query: goal, max_tokens: 300 }, right: ['budget'] }
  },
  // The model was down for its text, and half of the words of the query are in others.
  async not_indexed({ remember, ada }, place) {
    const goal = goalAt(place)
    for (const n of [1, 2]) await remember({ title: `${goal} (${n})`, content: `${goal}. ${fillerAt(place + n)}` })
    const [word = ''] = wordsOf(goal)
    const id = await remember({ title: `Ticket ${place}`, content: `${HOLDS_DOWN} ${word}: ${fillerAt(place + 5)}` })
    const args = { query: goal, limit: 2 }
    return { id, key: ada, tool: place % 2 === 0 ? 'search' : 'context', args, right: ['not_indexed'] }
  },
  // A captured session, or a memory that no person has approved where packs need that.
  async review({ remember, ada, ask, org }, place) {
    const goal = goalAt(place)
    if (place % 2 === 0) {
      const id = await remember({ title: goal, content: `${goal}. ${fillerAt(place)}` })
      return { id, key: ada, tool: 'context', args: { query: goal }, right: ['approval'] }
    }
    const session = `s${place}`
    const hook = (n, hook_event_name, rest) => ({
      ...{
        id: `${session}-${n}`,
        at: Date.now(),
        place: { folder: '/home/ada/ferry', remote: 'git@github.com:a/b.git' },
      },
      event: { session_id: session, cwd: '/home/ada/ferry', hook_event_name, ...rest },
    })
    const edit = { tool_name: 'Edit', tool_input: { file_path: `${place}.ts` }, tool_response: {}, tool_use_id: 't1' }
    const events = [
      hook(1, 'UserPromptSubmit', { prompt: goal, prompt_id: 'p1' }),
      hook(2, 'PostToolUse', edit),
      hook(3, 'SessionEnd', { reason: 'other' }),
    ]
    await ask(ada, '/api/v1/hooks/claude-code', { events })
    const { items } = await ask(ada, `/api/v1/orgs/${org}/captured`)
    return { id: items[0].id, key: ada, tool: 'context', args: { query: goal }, right: ['review'] }
  },
}

/** IDs that the call of a plant returns. */
async function returnedBy({ call }, { key, tool, args: { query, ...more } }) {
  const given = { ...more, ...(more.kind === undefined ? {} : { kind: [more.kind] }) }
  const answer = await call(key, tool, { ...given, [tool === 'context' ? 'goal' : 'query']: query })
  const sections = (answer.sections ?? []).flatMap(({ memories }) => memories)
  return [...(answer.results ?? []), ...sections].map(({ id }) => id)
}

async function measure(world, causes, rows) {
  for (const cause of causes) {
    let found = 0
    for (let n = 0; n < PLANTED && found < WANTED; n++) {
      const place = Object.keys(PLANTS).indexOf(cause) * PLANTED + n
      const plant = await PLANTS[cause](world, place)
      const returned = await returnedBy(world, plant)
      if (returned.includes(plant.id)) {
        rows.push({ cause, place, isMiss: false })
        continue
      }
      found++
      const query = new URLSearchParams({ ...plant.args, id: String(plant.id), tool: plant.tool })
      const { causes: named } = await world.ask(plant.key, `/api/v1/orgs/-/why?${query}`)
      rows.push({ cause, place, isMiss: true, right: plant.right.includes(named[0].cause), named })
    }
  }
}

const workspace = createWorkspace()
const model = await startModel(Number(values.models))
const rows = []
try {
  const vars = {
    ...{ AUTH_MODE: 'required', ADMIN_TOKEN: TOKEN, RATE_LIMIT_PER_MINUTE: '0', MAX_CONCURRENT_REQUESTS: '0' },
    ...{ LOG_LEVEL: 'ERROR', EMBEDDING_PROVIDER: 'ollama', EMBEDDING_MODEL: 'stand-in', EMBEDDING_FAILURE: 'defer' },
    ...{ EMBEDDING_DIM: String(DIMENSIONS), OLLAMA_HOST: `http://127.0.0.1:${values.models}` },
  }
  for (const [n, [trust, causes]] of [
    ['all', Object.keys(PLANTS).filter((cause) => cause !== 'review')],
    ['approved', ['review']],
  ].entries()) {
    const port = Number(values.port) + 3 * n
    const state = workspace.folder(`why-${trust}`)
    const server = await startServer(values.target, {
      workspace,
      state,
      port,
      vars: { ...vars, PACK_TRUST: String(trust) },
    })
    try {
      const world = await openWorld(server.origin)
      for (const { title, text, kind, project } of NOISE.slice(0, 200))
        await world.remember({ title: title ?? text.slice(0, 60), content: text, kind: kind ?? 'note', project })
      await measure(world, causes, rows)
    } finally {
      await server.stop()
    }
  }
} finally {
  model.close()
  workspace.remove()
}

const misses = rows.filter(({ isMiss }) => isMiss)
console.log(
  '| cause | planted | returned all the same | misses | right | others named |\n|---|---:|---:|---:|---:|---|',
)
for (const cause of Object.keys(PLANTS)) {
  const own = rows.filter((row) => row.cause === cause)
  const missed = own.filter(({ isMiss }) => isMiss)
  const wrong = missed.filter(({ right }) => !right).map(({ named }) => named[0].cause)
  console.log(
    `| ${cause} | ${own.length} | ${own.length - missed.length} | ${missed.length} | ${missed.length - wrong.length} | ${wrong.join(', ')} |`,
  )
}
console.log(`\n${misses.filter(({ right }) => right).length} of ${misses.length} right`)
for (const { cause, place, named } of misses.filter(({ right }) => !right))
  console.error(cause, place, JSON.stringify(named))
