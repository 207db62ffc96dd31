// What Claude Code does with resources and prompts: its model lists the resources and reads one, and a person starts a session by the
// prompt as a slash command, whose arguments Claude Code parts at every space. The model is scripted and sees what a real one would.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModel } from './model.mjs'
import { runClient } from './program.mjs'
import { call, URL_OF_SERVER } from './server.mjs'

const MODEL_PORT = Number(process.env.MODEL_PORT ?? 8861)
const THREAD = 'design/tickets é'
const TEXT = 'The code on the phone is signed, ramps check it without a network.'
const address = `memory://thread/${encodeURIComponent(THREAD)}`

/** Runs Claude Code; returns everything that was sent to its model, and its output. */
async function ask(prompt, script) {
  const model = await startModel(MODEL_PORT, script)
  const servers = { mcpServers: { commonplace: { type: 'http', url: URL_OF_SERVER } } }
  const allowed = ['--strict-mcp-config', '--allowedTools', 'ListMcpResourcesTool,ReadMcpResourceTool']
  const output = await runClient(
    'claude',
    ['-p', prompt, '--mcp-config', JSON.stringify(servers), ...allowed],
    {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${MODEL_PORT}`,
      ANTHROPIC_API_KEY: 'sk-ant-scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
    },
    mkdtempSync(join(tmpdir(), 'commonplace-client-')),
  )
  model.stop()
  return { ...model.seen, output }
}

const tell = (what, right) => {
  console.log(`${what.padEnd(34)} ${right ? 'yes' : 'NO'}`)
  if (!right) process.exitCode = 1
}

const { context_id: id } = await call('store_context', {
  thread_id: THREAD,
  source: 'agent',
  text: TEXT,
  metadata: { kind: 'decision', project: 'ferry' },
})
const STEPS = [
  () => ({ tool: 'ListMcpResourcesTool', args: { server: 'commonplace' } }),
  () => ({ tool: 'ReadMcpResourceTool', args: { server: 'commonplace', uri: address } }),
  () => ({ answer: 'done' }),
]
const read = await ask('What was decided about tickets?', (results) => STEPS[results.length]())
const [list, contents] = read.received.map((result) => JSON.stringify(result))
tell('its model lists our threads', list?.includes(address) === true)
tell('its model reads a thread', contents?.includes(TEXT) === true)

const started = await ask('/mcp__commonplace__start_session ramps-without-network ferry', () => ({ answer: 'done' }))
const sent = JSON.stringify(started.asked ?? '')
tell('a slash command sends the pack', sent.includes(TEXT) && sent.includes('The goal of this session'))
if (process.env.VERBOSE) console.log(JSON.stringify({ read, started }, null, 1).slice(0, 9000))
await call('delete_context', { context_ids: [id] })
