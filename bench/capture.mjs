// Measures the delay of hooks: each hook alone, compared with Node's own start; with `--clients FOLDER` real clients (`--only` some),
// with and without the plugin (test/clients/README.md describes that folder). With a server, without one, and with one that hangs.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDesk } from '../scripts/demo-capture/recorded.mjs'
import { startOwnServer } from '../scripts/demo-capture/server.mjs'
import { root } from '../scripts/install.mjs'
import { markdownTable, percentile, short } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '40' },
    turns: { type: 'string', default: '5' },
    clients: { type: 'string' },
    only: { type: 'string', default: 'claude-code,codex,copilot,opencode' },
    write: { type: 'boolean' },
  },
})
const calls = Number(values.calls)
const turns = Number(values.turns)
const where = circumstances()
const HOOK = join(root, 'plugins', 'commonplace', 'hook.mjs')
const OWN_TIME = new URL('support/own-time.mjs', import.meta.url).href
const CLIENTS = new URL('../test/clients/', import.meta.url).href

/** Accepts connections and never answers. */
async function startSilent() {
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

/** Runs a program with an event on its stdin. @returns {Promise<{ own: number, processor: number }>} milliseconds after Node's start, and of a processor */
const once = (args, env, cwd, input) =>
  new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--import', OWN_TIME, ...args], {
      env,
      cwd,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    let told = ''
    child.stdio[3]?.on('data', (piece) => {
      told += piece
    })
    child.stdin?.on('error', () => {})
    child.on('error', failed)
    child.on('close', () => done(JSON.parse(told)))
    child.stdin?.end(input)
  })

const EVENTS = {
  'a tool has run': (i) => ({
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_use_id: `t${i}`,
    tool_input: { command: 'npm test' },
    tool_response: { stdout: 'ok' },
  }),
  'start of a session': () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  'a prompt': (i) => ({
    hook_event_name: 'UserPromptSubmit',
    prompt_id: `p${i}`,
    prompt: 'Why does the harbour light flicker with a cold generator?',
  }),
  'end of a turn': (i) => ({ hook_event_name: 'Stop', last_assistant_message: `We decided to use lamp ${i}.` }),
}

/** @returns {Promise<Record<string, { own: number, processor: number }[]>>} by event */
async function hooksAt(url, base, count) {
  const { home, folder } = makeDesk(base, `hooks-${Math.random()}`)
  const env = { PATH: process.env.PATH, HOME: home, COMMONPLACE_URL: url }
  /** @type {Record<string, { own: number, processor: number }[]>} */
  const found = {}
  for (const [name, event] of Object.entries(EVENTS)) {
    found[name] = []
    for (let i = 0; i < count; i++) {
      const input = JSON.stringify({ session_id: 's1', cwd: folder, permission_mode: 'default', ...event(i) })
      found[name].push(await once([HOOK, 'claude-code'], env, folder, input))
    }
  }
  return found
}

const HANGS = 'one that hangs'
const spread = (all, what) => {
  const times = all.map((one) => one[what])
  return `${short(percentile(times, 0.5))} / ${short(percentile(times, 0.95))}`
}

/** Returns remaining programs of a client: those with its home in their environment. */
function leftIn(home) {
  const { stdout } = spawnSync('sh', ['-c', `grep -lzs "HOME=${home}" /proc/[0-9]*/environ | wc -l`], {
    encoding: 'utf8',
  })
  return Number(stdout.trim())
}

async function turnsOf(name, programs, plugin, url, base) {
  const { AGENTS, install, start, trust } = await import(`${CLIENTS}capture/clients.mjs`)
  const { startModel } = await import(`${CLIENTS}model.mjs`)
  const { requestsOf } = await import(`${CLIENTS}capture/seen.mjs`)
  const agent = AGENTS[name]
  const desk = { ...makeDesk(base, `${name}-${Math.random()}`), url }
  if (plugin) await install(programs, name, desk)
  if (plugin && name === 'codex') await trust(programs, desk)
  /** @type {{ started: number[], whole: number[], bytes: number, left: number }} */
  const found = { started: [], whole: [], bytes: 0, left: 0 }
  for (let i = 0; i <= turns; i++) {
    const begun = Date.now()
    let first = 0
    const model = await startModel(0, (results) => {
      first ||= Date.now() - begun
      return results.length === 0 ? agent.shell('ls') : { answer: 'Done.' }
    })
    const { args, env } = agent.ask('Fix the harbour light', `http://127.0.0.1:${model.port}`)
    const { ms } = await start(programs, name, args, desk, env).done
    model.stop()
    found.bytes = Buffer.byteLength(JSON.stringify(requestsOf(model)[0] ?? null))
    // The first run fills caches of the client.
    if (i > 0) {
      found.started.push(first)
      found.whole.push(ms)
    }
  }
  found.left = leftIn(desk.home)
  return found
}

const base = mkdtempSync(join(tmpdir(), 'commonplace-bench-capture-'))
const server = await startOwnServer()
const silent = await startSilent()
const states = { 'with a server': server.url, 'no server': 'http://127.0.0.1:9', [HANGS]: silent.url }
const remember = async (i) =>
  fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        name: 'remember',
        arguments: {
          title: `Decision ${i}`,
          content: 'The harbour office agreed. '.repeat(12),
          kind: 'decision',
          project: 'github.com/acme/ferry',
        },
      },
    }),
  }).then((response) => response.text())
for (let i = 0; i < 30; i++) await remember(i)

/** Measures each hook alone. */
async function hooksReport() {
  const bare = []
  for (let i = 0; i < calls; i++) bare.push(await once(['-e', ''], process.env, base, ''))
  /** @type {[string, Record<string, { own: number, processor: number }[]>][]} */
  const columns = []
  for (const [state, url] of Object.entries(states))
    columns.push([state, await hooksAt(url, base, state === HANGS ? Math.min(calls, 8) : calls)])
  const rowOf = (name, what) => [`${name}, ${what}`, ...columns.map(([, found]) => spread(found[name] ?? bare, what))]
  const names = ['nothing at all', ...Object.keys(EVENTS)]
  const rows = ['own', 'processor'].flatMap((what) => names.map((name) => rowOf(name, what)))
  return `## Hooks

${where}; ${calls} runs a row (8 with a server that hangs), one after the other; milliseconds, p50 / p95: own, from the end of Node's start
to the end of the program; processor, of all of it.

${markdownTable(['hook', ...columns.map(([state]) => state)], rows)}
`
}

/** Measures turns of real clients. @param {string} folder with their packages */
async function clientsReport(folder) {
  const programs = resolve(folder)
  const lines = []
  for (const name of values.only.split(',')) {
    const without = await turnsOf(name, programs, false, server.url, base)
    const line = (state, found) => [
      `${name}, ${state}`,
      short(percentile(found.started, 0.5)),
      short(percentile(found.whole, 0.5)),
      short(percentile(found.whole, 0.5) / percentile(without.whole, 0.5)),
      found.bytes - without.bytes,
      found.left,
    ]
    lines.push(line('without the plugin', without))
    for (const [state, url] of Object.entries(states))
      lines.push(line(state, await turnsOf(name, programs, true, url, base)))
    console.log(lines.slice(-4).join('\n'))
  }
  return `## Clients

${where}; ${turns} runs of a client a row behind one that fills its caches, each a prompt, a command and an answer of a scripted model;
milliseconds, p50. Bytes are those of the first model request more than without the plugin (start text, skill and the eight tools); left:
processes when the client has ended.

${markdownTable(['client', 'until its first model request', 'whole', '×', 'bytes more', 'left'], lines)}
`
}

const report = values.clients === undefined ? await hooksReport() : await clientsReport(values.clients)
console.log(report)
if (values.write) writeSection(values.clients === undefined ? 'capture' : 'capture-clients', report)
silent.stop()
await server.stop()
rmSync(base, { recursive: true, force: true, maxRetries: 5 })
process.exit(0)
