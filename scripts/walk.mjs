// Prints the source files whose functions run in one warm call of a tool on D1, beyond those that `tools/list` runs.
//   node scripts/run.mjs node scripts/walk.mjs [TOOL …] [--files]     default: a table of all that CALLS has; --files lists the files
// A counter is written into each function of the bundle. A line counts as run when it is in a function that the call entered.
import { readFileSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAst } from 'rolldown/parseAst'
import { createClient } from '../bench/support/mcp.mjs'
import { startWorkerd } from '../bench/support/workerd.mjs'
import { createWorkspace } from '../bench/support/workspace.mjs'
import { freePort } from './ports.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'boolean', default: false } },
})

/** Arguments of one call of each tool that can be walked. @type {Record<string, Record<string, unknown>>} */
const CALLS = {
  store_context: { thread_id: 'walk', source: 'agent', text: 'Refunds carry an idempotency key.', tags: ['refunds'] },
  update_context: { context_id: 1, text: 'Refunds carry the booking id as their key.' },
  delete_context: { context_ids: [2] },
  hybrid_search_context: { query: 'refund key' },
  fts_search_context: { query: 'refund key' },
  get_context_by_ids: { context_ids: [1] },
  context_store: { layer: 2, type: 'decision', content: 'Refunds carry an idempotency key.', metadata: {} },
  context_recall: { query: 'refund key' },
  context: { goal: 'make refunds safe to retry' },
  remember: { title: 'Refunds carry a key', content: 'A retried refund paid twice.', kind: 'decision' },
}
const tools = positionals.length > 0 ? positionals : Object.keys(CALLS)
for (const tool of tools)
  if (CALLS[tool] === undefined) throw new Error(`${tool} has no arguments in CALLS of scripts/walk.mjs`)

// Bundled into one file.
const workspace = createWorkspace(undefined, 'src/index.ts')
const port = await freePort()
const bundled = join(workspace.bundle, 'index.js')
const text = readFileSync(bundled, 'utf8')
const map = new SourceMap(JSON.parse(readFileSync(`${bundled}.map`, 'utf8')))
const lineStarts = [0]
for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)

/** The line of the bundle that holds an offset, by bisection. @param {number} offset */
function lineAt(offset) {
  let [low, high] = [0, lineStarts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (/** @type {number} */ (lineStarts[middle]) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Every function of the bundle: its file and its lines there. @type {{ file: string, lines: Set<number> }[]} */
const functions = []
/** @type {[at: number, inserted: string][]} */
const insertions = []

/** Where an offset of the bundle comes from. @param {number} offset @returns {{ file: string, line: number }} */
function originOf(offset) {
  const line = lineAt(offset)
  const { originalSource = '', originalLine = 0 } = /** @type {any} */ (
    map.findEntry(line, offset - /** @type {number} */ (lineStarts[line]))
  )
  return { file: relative(workspace.sources, join(workspace.bundle, originalSource)), line: originalLine }
}

/** The file and lines of a function of the bundle, or null for a package. @param {number} start @param {number} end */
function sourceOf(start, end) {
  const [first, last] = [originOf(start), originOf(end - 1)]
  if (!first.file.startsWith('src/')) return null
  const lines = new Set([first.line])
  if (last.file === first.file) for (let line = first.line; line <= last.line; line++) lines.add(line)
  return { file: first.file, lines }
}

/** @param {any} node of the bundle's syntax tree */
function instrument(node) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) return node.forEach(instrument)
  if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && node.body !== null) {
    const source = sourceOf(node.start, node.end)
    if (source !== null) {
      const counter = `globalThis.walked.add(${functions.push(source) - 1})`
      const { body } = node
      if (body.type === 'BlockStatement') insertions.push([body.start + 1, `${counter};`])
      else insertions.push([body.start, `(${counter},(`], [body.end, '))'])
    }
  }
  for (const value of Object.values(node)) instrument(value)
}
instrument(parseAst(text).body)
insertions.sort(([a, x], [b, y]) => a - b || (x === '))' ? -1 : y === '))' ? 1 : 0))
let [instrumented, from] = ['globalThis.walked = new Set();', 0]
for (const [at, inserted] of insertions) {
  instrumented += text.slice(from, at) + inserted
  from = at
}
/** Answers `/walked` with the functions that ran since it was asked last, and leaves every other request to the Worker. */
const worker = /(\w+) as default/.exec(text)?.[1]
const wrapped = `{ fetch(request, env, context) {
  if (new URL(request.url).pathname !== '/walked') return ${worker}.fetch(request, env, context);
  const answer = Response.json([...globalThis.walked]); globalThis.walked.clear(); return answer;
} }`
const remaining = text.slice(from).replace(`${worker} as default`, 'walkedWorker as default')
writeFileSync(bundled, `${instrumented}${remaining}\nconst walkedWorker = ${wrapped};\n`)

const server = await startWorkerd({
  ...{ workspace, port, state: workspace.folder('state') },
  vars: { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' },
})
const client = createClient(server.origin)

/** Source files and their lines that a second, warm call runs. @param {() => Promise<unknown>} call */
async function walk(call) {
  await call()
  await fetch(`${server.origin}/walked`)
  await call()
  /** @type {Map<string, Set<number>>} */
  const files = new Map()
  for (const index of await (await fetch(`${server.origin}/walked`)).json()) {
    const { file, lines } = /** @type {{ file: string, lines: Set<number> }} */ (functions[index])
    files.set(file, (files.get(file) ?? new Set()).union(lines))
  }
  return files
}

await client.call('store_context', CALLS.store_context ?? {})
const listed = await walk(() => client.request('tools/list', {}))
const rows = []
for (const tool of tools) {
  const run = await walk(() => client.call(tool, CALLS[tool] ?? {}))
  const beyond = [...run].filter(([file]) => !listed.has(file))
  const lines = beyond.reduce((sum, [, numbers]) => sum + numbers.size, 0)
  rows.push(`| \`${tool}\` | ${run.size} | ${beyond.length} | ${Math.round(lines / Math.max(1, beyond.length))} |`)
  const list = beyond.map(([file, { size }]) => `  ${String(size).padStart(4)} ${file}`).sort()
  if (values.files) console.log([tool, ...list].join('\n'))
}
console.log(
  ['| tool | files run | beyond `tools/list` | lines run in each |', '|---|---:|---:|---:|', ...rows].join('\n'),
)
await server.stop()
workspace.remove()
process.exit(0)
