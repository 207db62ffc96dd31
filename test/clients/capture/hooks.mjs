// Checks that the hooks of real clients fire, their model gets the complete start text, and `kill -9` loses nothing (capture contract §7).
// `RECORD=folder` writes the raw events of the first session of each into a file, `VERBOSE=1` prints more.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDesk } from '../../../scripts/demo-capture/recorded.mjs'
import { startOwnServer } from '../../../scripts/demo-capture/server.mjs'
import { run } from '../../../src/cli/capture/program.mjs'
import { startModel } from '../model.mjs'
import { AGENTS, install, ROOT, start, trust } from './clients.mjs'
import { requestsOf, startsIn } from './seen.mjs'

const programs = process.cwd()
const COMMAND = join(ROOT, 'src', 'cli', 'commonplace.mjs')
const RECORDER = join(ROOT, 'test', 'clients', 'capture', 'record-opencode.js')
const PROJECT = 'github.com/acme/ferry'
const base = mkdtempSync(join(tmpdir(), 'commonplace-capture-'))
const server = await startOwnServer()
const wanted = process.argv.slice(2)
let failed = false

function tell(client, what, right, more = '') {
  if (!right) failed = true
  console.log(`${client.padEnd(12)} ${what.padEnd(56)} ${right ? 'yes' : 'NO'}${more === '' ? '' : `  ${more}`}`)
}

async function api(method, path, body) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const text = await (await fetch(`${server.url}${path}`, { method, headers, ...sent })).text()
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
}
const call = async (name, args) =>
  (await api('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })).result
    .structuredContent
const ofProject = `/api/v1/orgs/-/captured?project=${encodeURIComponent(PROJECT)}`
const captured = async () => (await api('GET', ofProject)).items
const erase = () => api('DELETE', ofProject)

function waiting({ home }) {
  const spool = join(home, '.commonplace', 'spool')
  return existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.json')) : []
}

async function tryClient(name, agent) {
  const here = { ...makeDesk(base, name), url: server.url }
  await erase()
  await install(programs, name, here)
  if (name === 'codex') {
    const hooks = await trust(programs, here)
    const isTrusted = hooks.length > 0 && hooks.every(({ trustStatus }) => trustStatus === 'trusted')
    tell(name, 'trusts its hooks by its app-server', isTrusted)
  }
  const steps = [
    agent.shell('cat light.txt'),
    agent.writes?.(here.folder, 'light.txt') ?? agent.shell('echo LED > light.txt'),
    agent.shell('cat light.txt'),
    { answer: 'We decided to use LED lamps instead of oil. The light works again.' },
  ]
  async function begin(script, record) {
    const model = await startModel(0, script)
    const { args, env } = agent.ask('Fix the harbour light', `http://127.0.0.1:${model.port}`)
    return { model, client: start(programs, name, args, { ...here, ...(record && { record }) }, env) }
  }
  async function whole(record) {
    rmSync(join(here.folder, 'light.txt'), { force: true })
    const { model, client } = await begin((results) => steps[Math.min(results.length, 3)], record)
    const { said } = await client.done
    model.stop()
    if (process.env.VERBOSE) console.log(said.slice(-2000), model.seen.requests, model.seen.received)
    return requestsOf(model)
  }

  const file = process.env.RECORD && join(process.env.RECORD, `${name}.jsonl`)
  if (file) rmSync(file, { force: true })
  if (file && name === 'opencode') copyFileSync(RECORDER, join(here.home, '.config/opencode/plugins/a-record.js'))
  const first = await whole(file)
  // The recalled text for the prompt is next to it.
  const [told, ...others] = startsIn(first[0])
  const isWhole = told !== undefined && !others.includes(told) && told.length > 1500
  tell(name, 'its first request holds the start text once, whole', isWhole, `${Buffer.byteLength(told ?? '')} bytes`)
  const isSame = first.length >= 2 && first.every((body) => startsIn(body)[0] === told)
  tell(name, 'each request of the session holds the same bytes', isSame, `${first.length} requests`)
  const [entry] = await captured()
  const { result } =
    entry === undefined ? { result: [] } : await call('get_context_by_ids', { context_ids: [entry.id] })
  const text = result[0]?.text_content ?? ''
  if (process.env.VERBOSE) console.log(text)
  tell(name, 'the session is captured', text.includes('Fix the harbour light') && entry.client === name)
  if (agent.writes !== null) tell(name, 'with the file that it wrote', text.includes('light.txt'))
  await erase()
  tell(name, 'another session begins with the same bytes', startsIn((await whole())[0])[0] === told)
  await erase()

  if (agent.delegates !== undefined) {
    const task = agent.delegates('Look after berth 7')
    let asked = 0
    const { model, client } = await begin(() => (asked++ === 0 ? task : { answer: 'Done.' }))
    await client.done
    model.stop()
    // The only request without the person's prompt is that of the subagent.
    const own = requestsOf(model).filter((body) => !JSON.stringify(body).includes('Fix the harbour light'))
    if (process.env.VERBOSE)
      console.log(own.map((body) => [JSON.stringify(body.messages).slice(0, 200), startsIn(body).length]))
    tell(name, 'a subagent starts with memory', own.length > 0 && startsIn(own[0]).length > 0)
    await erase()
  }

  // The model is silent after the tools have run, and the client is killed with everything that it started.
  const { model, client } = await begin((results) => (results.length < 3 ? steps[results.length] : null))
  let isOver = false
  void client.done.then(() => {
    isOver = true
  })
  while (!isOver && requestsOf(model).length < 4) await new Promise((resolve) => setTimeout(resolve, 100))
  client.kill()
  await client.done
  model.stop()
  const kept = waiting(here)
  await whole()
  // Events of the second session may wait for the next start.
  const left = new Set(waiting(here))
  const isSent = kept.length > 0 && !kept.some((event) => left.has(event))
  tell(name, 'kill -9 loses nothing: the next session sends what waits', isSent, `${kept.length} events waited`)
  await server.pass(20)
  tell(name, 'and the killed session is captured too', (await captured()).length === 2)

  // By our command instead of its own, in another home.
  const { home } = makeDesk(base, `${name}-setup`)
  const env = { ...process.env, HOME: home, PATH: `${join(programs, 'node_modules', '.bin')}:${process.env.PATH}` }
  const args = [COMMAND, 'setup', name, '--capture', '--url', server.url]
  const { code, out, err } = await run(process.execPath, args, { env })
  if (process.env.VERBOSE) console.log(out, err)
  tell(
    name,
    'commonplace setup --capture, and its doctor',
    code === 0 && out.includes('a replayed session became entry'),
  )
}

for (let i = 0; i < 30; i++)
  await call('remember', {
    // No section of a start gets more than a third of it.
    ...{ title: `Decision ${i}`, kind: ['decision', 'gotcha', 'convention'][i % 3], project: PROJECT },
    content: `Berth ${i} stays free. ${'The harbour office agreed. '.repeat(12)}`,
  })
for (const [name, agent] of Object.entries(AGENTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  await tryClient(name, agent)
}
await server.stop()
rmSync(base, { recursive: true, force: true, maxRetries: 5 })
process.exit(failed ? 1 : 0)
