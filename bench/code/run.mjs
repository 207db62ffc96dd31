// `npm run bench -- code`: measures the time to index a repository, and of the three searches in it. In plain workerd,
// over MCP.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nodePath, root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '2000' },
    target: { type: 'string', default: 'workerd' },
    port: { type: 'string', default: '18740' },
    write: { type: 'boolean', default: false },
  },
})
/** Installed packages whose sources people wrote or compiled file by file; together a repository of middling size. */
const PACKAGES = ['hono', 'drizzle-orm', 'zod', '@modelcontextprotocol', '@babel/core', 'ajv', 'yaml', 'agents']
const CALLS = 40
const MAX_BYTES = 200_000

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sources(path)
    else if (/\.(?:[cm]?[jt]s|tsx)$/.test(entry.name) && statSync(path).size < MAX_BYTES) yield path
  }
}

/** Makes a folder with this number of files, leaving out evenly what the packages have more of. */
function gather(folder) {
  const all = PACKAGES.flatMap((name) => [...sources(join(root, 'node_modules', name))])
  const wanted = Math.min(Number(values.files), all.length)
  let bytes = 0
  for (let i = 0; i < wanted; i++) {
    const from = all[Math.floor((i * all.length) / wanted)]
    const to = join(folder, from.slice(join(root, 'node_modules').length + 1).replaceAll('dist', 'out'))
    mkdirSync(join(to, '..'), { recursive: true })
    cpSync(from, to)
    bytes += statSync(from).size
  }
  return { count: wanted, bytes }
}

function index(folder, origin, ...more) {
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(
    nodePath(),
    [join(root, 'src/cli/commonplace.mjs'), 'index', folder, '--project', 'bench', '--url', origin, '--json', ...more],
    { encoding: 'utf8', maxBuffer: 2 ** 28 },
  )
  if (status !== 0) throw new Error(`indexing failed: ${stderr}`)
  return { seconds: (performance.now() - started) / 1000, report: JSON.parse(stdout) }
}

/** Names and lines that are in the code, so that searches find something. */
function queriesFrom(folder) {
  const files = [...sources(folder)]
  const names = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:function|class) ([A-Za-z]{6,40})/g)].map((match) => match[1]),
  )
  const pick = (list, i) => list[(i * 7919) % list.length]
  return Array.from({ length: CALLS }, (_, i) => ({
    symbol: i % 3 === 0 ? pick(names, i) : pick(names, i).slice(0, 5),
    text: i % 4 === 0 ? 'return' : pick(names, i),
    semantic: `where is ${pick(names, i)
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()} handled`,
  }))
}

/** Processor seconds that the server has used, which others at work on the machine do not change much; Linux only. */
function serverSeconds() {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8')
      } catch {
        return ''
      }
    })
  const own = stats.filter(
    (line) => line.includes('(workerd)') && line.split(') ')[1]?.split(' ')[1] === String(process.pid),
  )
  const ticks = own.map((line) => line.split(') ')[1].split(' ')).map((parts) => Number(parts[11]) + Number(parts[12]))
  return ticks.reduce((sum, one) => sum + one, 0) / 100
}

const where = circumstances()
const workspace = createWorkspace()
const folder = workspace.folder('repository')
const { count, bytes } = gather(folder)
const server = await startServer(values.target, {
  workspace,
  state: workspace.folder('state'),
  vars: { LOG_LEVEL: 'ERROR' },
  port: Number(values.port),
})
const client = createClient(server.origin)
let worstHealth = 0
let watching = true
const health = (async () => {
  while (watching) {
    const started = performance.now()
    await fetch(`${server.origin}/health`).then((response) => response.text())
    worstHealth = Math.max(worstHealth, performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})()
const child = () => new Promise((resolve) => setTimeout(resolve, 0))
await child()
try {
  const { spawn } = await import('node:child_process')
  const started = performance.now()
  const used = serverSeconds()
  const report = await new Promise((resolve, reject) => {
    const run = spawn(nodePath(), [
      join(root, 'src/cli/commonplace.mjs'),
      'index',
      folder,
      '--project',
      'bench',
      '--url',
      server.origin,
      '--json',
    ])
    let out = ''
    run.stdout.on('data', (chunk) => {
      out += chunk
    })
    run.once('close', (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error('indexing failed'))))
  })
  const seconds = (performance.now() - started) / 1000
  const busy = serverSeconds() - used
  watching = false
  await health
  const again = index(folder, server.origin)
  const rows = []
  const queries = queriesFrom(folder)
  for (const mode of ['symbol', 'text', 'semantic']) {
    const times = []
    const before = serverSeconds()
    for (const query of queries)
      times.push((await client.call('context_searchCode', { query: query[mode], mode, projectPath: 'bench' })).ms)
    rows.push([
      `${mode}`,
      short(percentile(times, 0.5)),
      short(percentile(times, 0.95)),
      short(((serverSeconds() - before) * 1000) / times.length),
    ])
  }
  const text = `## Code (${values.target === 'postgres' ? 'PostgreSQL' : 'D1'})

${where}; ${values.target === 'postgres' ? 'PostgreSQL' : 'D1'}, plain workerd, local embedder of 512 dimensions, one connection, over MCP.

${thousands(count)} files, ${(bytes / 1e6).toFixed(1)} MB, ${thousands(report.indexStatus.totalSymbols)} symbols: indexed by \`commonplace index\` in ${seconds.toFixed(1)} s
(${short(count / seconds)} files/s; ${busy.toFixed(1)} s of one processor, ${short(count / busy)} files/s; ${short(bytes / 1e6 / seconds)} MB/s), nothing changed ${again.seconds.toFixed(1)} s; the slowest answer of \`/health\` meanwhile ${Math.round(worstHealth)} ms.

${markdownTable(['search', 'p50 ms', 'p95 ms', 'processor ms'], rows)}`
  console.log(text)
  if (values.write) writeSection(values.target === 'postgres' ? 'code-postgres' : 'code', text)
} finally {
  watching = false
  client.close()
  await server.stop()
}
