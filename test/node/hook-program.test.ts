import { spawn, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startHooksServer } from '../fakes/hooks-server'
import { ROOT } from '../support/build'
import { type Desk, desk, FAULTS, HOOK } from '../support/hook-desk'
import { POSITIVES, TOKENS } from '../support/secret-samples'

/** The hook program as clients run it, with an event on stdin (capture contract §2). */

const PLUGINS = join(ROOT, 'plugins')

let server: Awaited<ReturnType<typeof startHooksServer>>
let home: string

beforeEach(async () => {
  server = await startHooksServer()
  home = mkdtempSync(join(tmpdir(), 'commonplace-hook-'))
  at = desk(home, server.url)
})
afterEach(() => {
  server.stop()
  rmSync(home, { recursive: true, force: true })
})

let at: Desk
const fire: Desk['fire'] = (event, client, env) => at.fire(event, client, env)
const waiting = () => at.waiting()
const start = () => at.start()
const prompt: Desk['prompt'] = (text, id) => at.prompt(text, id)
const tool: Desk['tool'] = (id, command, response) => at.tool(id, command, response)
const stop: Desk['stop'] = (words) => at.stop(words)
const sent = () => server.received.flatMap(({ body }) => body.events)

it('is one file of at most 71,680 bytes, equal in both plugins and equal to what its sources make', () => {
  const made = spawnSync(process.execPath, [join(ROOT, 'scripts', 'plugins.mjs'), '--check'], { encoding: 'utf8' })
  expect(made.stderr).toBe('')
  expect(statSync(HOOK).size).toBeLessThanOrEqual(71_680)
  const [one, other] = ['commonplace', 'agent-plugin'].map((name) => join(PLUGINS, name))
  for (const file of ['hook.mjs', 'skills/memory/SKILL.md'])
    expect(readFileSync(join(one as string, file), 'utf8')).toBe(readFileSync(join(other as string, file), 'utf8'))
  const imported = [...readFileSync(HOOK, 'utf8').matchAll(/from "([^"]+)"/g)].map((match) => match[1])
  expect(imported.filter((name) => !/^node:(fs|path|os|crypto|https?|url)$/.test(name as string))).toEqual([])
})

it('names the schemas by which Copilot knows a plugin of the agent-plugins format, without which it reads no hooks and no servers', () => {
  const schemaOf = (name: string) => JSON.parse(readFileSync(join(PLUGINS, 'agent-plugin', name), 'utf8')).$schema
  expect(['plugin.json', 'mcp.json'].map(schemaOf)).toEqual(
    ['plugin', 'mcp'].map((name) => `https://agent-plugins.org/schemas/1.0.0/${name}.schema.json`),
  )
})

it('lets tool events wait without asking the server, and sends them oldest first with the next other event', async () => {
  await fire(tool('t1'))
  await fire(tool('t2'))
  expect(server.received).toEqual([])
  expect(await fire(stop())).toMatchObject({ code: 0, out: '' })
  expect(sent().map(({ event }) => event.tool_use_id ?? event.hook_event_name)).toEqual(['t1', 't2', 'Stop'])
  expect(server.received[0]).toMatchObject({ path: '/api/v1/hooks/claude-code', authorization: 'Bearer cp_mine' })
  expect(waiting()).toEqual([])
})

it('sends a start by itself and first, and prints what the server answers without what would block', async () => {
  const hookSpecificOutput = { hookEventName: 'SessionStart', additionalContext: 'what stands' }
  server.wanted.output = { hookSpecificOutput, decision: 'block', continue: false }
  await fire(tool('t1'))
  const { out } = await fire(start())
  expect(JSON.parse(out)).toEqual({ hookSpecificOutput })
  expect(server.received.map(({ body }) => body.events.length)).toEqual([1, 1])
  expect(server.received[0]?.body.answer).toBe(server.received[0]?.body.events[0]?.id)
})

it('stores a complete event if the server is down, hangs, breaks off, fails or is another, and reports that at a start', async () => {
  for (const behaviour of ['hangs', 'breaks off', 'is a stranger', 500, 503] as const) {
    server.wanted.behaviour = () => behaviour
    const { code, out } = await fire(start(), 'claude-code', { PATIENCE: behaviour === 'hangs' ? '1' : '20' })
    expect(code).toBe(0)
    expect(JSON.parse(out).systemMessage).toMatch(/^commonplace: cannot reach .* since \d\d:\d\d, 1 event waits$/)
    expect(waiting()).toHaveLength(1)
  }
  server.wanted.behaviour = () => 401
  expect(JSON.parse((await fire(start())).out).systemMessage).toContain('refuses the key, 1 event waits')
  server.wanted.behaviour = () => 'answers'
  expect((await fire(start())).out).toBe('')
  expect(waiting()).toEqual([])
})

it('halves a request that is refused until the refused event is alone, which is lost and reported once', async () => {
  for (const id of ['t1', 't2', 't3']) await fire(tool(id))
  server.wanted.behaviour = ({ events }) => (events.some(({ event }) => event.tool_use_id === 't2') ? 413 : 'answers')
  await fire(stop())
  expect(waiting()).toEqual([])
  expect(JSON.parse((await fire(start())).out).systemMessage).toBe('commonplace: 1 event was lost')
  expect(server.received.some(({ body }) => body.lost === 1)).toBe(true)
  expect((await fire({ ...start(), source: 'clear' })).out).toBe('')
})

it('gives up a list of tools, for which clients wait at their start, long before a call of one, where the server hangs', async () => {
  server.wanted.behaviour = () => 'hangs'
  // The input stays open: a bridge whose input has closed waits for nothing.
  const child = spawn(process.execPath, ['--import', FAULTS, HOOK, 'mcp'], {
    env: {
      HOME: home,
      PATH: process.env.PATH,
      COMMONPLACE_URL: server.url,
      COMMONPLACE_KEY: 'cp_mine',
      PATIENCE: '0.02',
    },
  })
  const lines = ['tools/call', 'tools/list'].map((method, id) => JSON.stringify({ jsonrpc: '2.0', id, method }))
  child.stdin.write(`${lines.join('\n')}\n`)
  const answers: { id: number; error: { code: number } }[] = []
  let rest = ''
  for await (const piece of child.stdout) {
    const all = `${rest}${piece}`.split('\n')
    rest = all.pop() ?? ''
    answers.push(...all.map((line) => JSON.parse(line)))
    if (answers.length === 2) child.stdin.end()
  }
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    [1, -32000],
    [0, -32000],
  ])
})

it('ends as a bridge within a second after its input has closed, also where the server hangs', async () => {
  server.wanted.behaviour = () => 'hangs'
  const from = Date.now()
  await fire(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' }), 'mcp', { PATIENCE: '1' })
  // The start of Node is part of it.
  expect(Date.now() - from).toBeLessThan(4_000)
})

it('sends the other waiting events if .commonplace.json names a project of two megabytes', async () => {
  writeFileSync(join(home, '.commonplace.json'), JSON.stringify({ project: 'x'.repeat(2_000_000) }))
  await fire(tool('t1'))
  await fire(stop())
  rmSync(join(home, '.commonplace.json'))
  expect(waiting()).toEqual([])
  expect(sent().map(({ place }) => (place as { project: string }).project.length)).toEqual([999, 999])
})

it('sends the files of a tool that lists them as texts, and the exit code in an output of JSON', async () => {
  const files = ['/w/a.ts', '/w/b.ts']
  await fire({ ...tool('t1'), tool_name: 'editFiles', tool_input: { files } })
  await fire(tool('t2', 'make', JSON.stringify({ exitCode: 1, output: '.'.repeat(2_000) })))
  await fire(stop())
  expect(sent()[0]?.event.tool_input).toEqual({ files })
  expect(sent()[1]?.event.tool_response).toContain('"exitCode":1')
})

it('answers each request over stdio by its id whatever the server answers, and offers a revision of MCP that the server speaks', async () => {
  const ask = async (method: string, params = {}) =>
    JSON.parse((await fire(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }), 'mcp')).out)
  for (const behaviour of [429, 500, 'is a stranger'] as const) {
    server.wanted.behaviour = () => behaviour
    const said = expect.stringContaining(`answered ${behaviour === 'is a stranger' ? 200 : behaviour}`)
    expect(await ask('tools/list')).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32000, message: said } })
  }
  const error = { code: -32000, message: 'This key sends too many requests', data: { retry_after: 3 } }
  Object.assign(server.wanted, { behaviour: () => 429, refusal: { jsonrpc: '2.0', id: null, error } })
  expect(await ask('tools/call')).toEqual({ jsonrpc: '2.0', id: 7, error })
  for (const [offered, answered] of [
    ['2025-11-25', '2025-11-25'],
    ['2099-01-01', '2025-06-18'],
    [5, '2025-06-18'],
  ])
    expect((await ask('initialize', { protocolVersion: offered })).result.protocolVersion).toBe(answered)
})

it('writes no secret into its folder and sends none, by the rules of the server', async () => {
  const secrets = POSITIVES.filter(([, secret]) => !/\s/.test(secret)).filter((_, i) => i % 8 === 0)
  expect(secrets.length).toBeGreaterThan(25)
  for (const [i, [text]] of secrets.entries()) await fire(tool(`s${i}`, `deploy ${text}`, { stdout: text }))
  const texts = secrets.map(([text]) => text).join('\n\n')
  await fire(prompt(`${texts.slice(0, 3_000)}\nuse ${TOKENS[0]?.[1]}`, 'p1'))
  server.wanted.behaviour = () => 503
  await fire(tool('last', `deploy ${TOKENS[1]?.[1]}`, { stdout: '' }))
  const kept = JSON.stringify([waiting(), sent()])
  expect(secrets.filter(([, secret]) => kept.includes(JSON.stringify(secret).slice(1, -1)))).toEqual([])
  expect(kept).toContain('[redacted:')
  expect(kept.split('[redacted:').length).toBeGreaterThan(secrets.length)
})

it('stores one file for two hooks of the same event', async () => {
  await Promise.all([fire(tool('t1')), fire(tool('t1'))])
  await fire(tool('t1'))
  await fire(stop())
  expect(new Set(sent().map(({ id }) => id)).size).toBe(2)
})

it('takes over from a sender that was killed with its lock', async () => {
  mkdirSync(join(home, '.commonplace'))
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  writeFileSync(join(home, '.commonplace', 'sender.lock'), `${dead} ${Date.now()} 0.5`)
  await fire(stop())
  expect(sent()).toHaveLength(1)
  expect(readdirSync(join(home, '.commonplace'))).not.toContain('sender.lock')
})

it('sends nothing private, nothing recalled, no contents, of an output its end and of a patch its files', async () => {
  const secret = 'TOPSECRET'
  await fire(prompt(`a <private>${secret}</private> b <private>${secret} <commonplace-memory> c`, 'p1'))
  await fire(prompt(`x <commonplace-memory>${secret}</commonplace-memory> y`, 'p2'))
  await fire({
    ...tool('t1'),
    tool_name: 'Write',
    tool_input: { file_path: '/a', content: secret },
    tool_response: { content: secret },
  })
  await fire({
    ...tool('t2'),
    tool_name: 'Edit',
    tool_input: { file_path: '/b', old_string: secret, new_string: secret },
  })
  await fire(tool('t3', `*** Begin Patch\n*** Update File: c.ts\n@@\n-${secret}\n+${secret}\n*** End Patch`))
  await fire(tool('t4', 'make', { stdout: `Exit code 2\n${secret}${'.'.repeat(600)}end` }))
  await fire(stop())
  const text = JSON.stringify(sent())
  expect(text).not.toContain(secret)
  expect(sent().flatMap(({ event }) => event.prompt ?? [])).toEqual(['a  b ', 'x  y'])
  for (const kept of ['"/a"', '"/b"', '*** Update File: c.ts', 'Exit code 2', '...end']) expect(text).toContain(kept)
})

it('sends no part of a word that is cut at the bound of a text, since a part of a secret is not known for one', async () => {
  const begins = `${'x '.repeat(1_980)}go with `
  await fire(prompt(`${begins}ghp_${'a1b2c3'.repeat(20)} and more`, 'p1'))
  await fire(prompt(`${'字'.repeat(5_000)}`, 'p2'))
  expect(sent().map(({ event }) => event.prompt)).toEqual([`${begins}[redacted:github] and more`, '字'.repeat(4_000)])
})

it('reads project, branch and remote of a worktree without the password, and home as the root', async () => {
  const main = join(home, 'ferry')
  const git = join(main, '.git')
  const tree = join(home, 'tree')
  mkdirSync(join(git, 'worktrees', 'tree'), { recursive: true })
  mkdirSync(tree)
  writeFileSync(
    join(git, 'config'),
    '[remote "up"]\n\turl = x\n[remote "origin"]\n\turl = https://me:pw@github.com/acme/ferry.git\n',
  )
  writeFileSync(join(git, 'worktrees', 'tree', 'HEAD'), 'ref: refs/heads/fix/tide\n')
  writeFileSync(join(git, 'worktrees', 'tree', 'commondir'), '../..\n')
  writeFileSync(join(tree, '.git'), `gitdir: ${join(git, 'worktrees', 'tree')}\n`)
  await fire({ ...stop(), cwd: tree })
  await fire({ ...stop('more'), cwd: home })
  expect(sent().map(({ place }) => place)).toEqual([
    { folder: main, remote: 'https://github.com/acme/ferry.git', branch: 'fix/tide' },
    { folder: '/' },
  ])
})

it('[CAPTURE-100] ends if .commonplace.json or the configuration of git is a link to a device, and captures nothing for the first', async () => {
  symlinkSync('/dev/zero', join(home, '.commonplace.json'))
  expect((await fire(start())).out).toContain('.commonplace.json cannot be read')
  rmSync(join(home, '.commonplace.json'))
  mkdirSync(join(home, '.git'))
  symlinkSync('/dev/zero', join(home, '.git', 'config'))
  symlinkSync('/dev/zero', join(home, '.git', 'HEAD'))
  expect((await fire(stop())).code).toBe(0)
  expect(sent().at(-1)?.place).toEqual({ folder: '/' })
})

it('captures nothing if .commonplace.json disables it or cannot be read, and tells the user', async () => {
  const file = join(home, '.commonplace.json')
  for (const text of ['{"capture": false}', '{"capture": false,}', null]) {
    rmSync(file, { force: true })
    if (text === null) mkdirSync(file)
    else writeFileSync(file, text)
    await fire(tool('t1'))
    await fire(stop())
    expect(JSON.parse((await fire(start())).out).systemMessage).toMatch(/capture is off here|nothing is captured here/)
  }
  expect(waiting()).toEqual([])
  expect(sent().every(({ event, place }) => event.hook_event_name === 'SessionStart' && 'capture' in place)).toBe(true)
})

it('returns recalled memories, and sends all but tool events, if nothing can be written at home, and tells the user', async () => {
  const own = join(home, '.commonplace')
  const output = { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'what stands' } }
  server.wanted.output = output
  for (const isFile of [true, false]) {
    rmSync(own, { recursive: true, force: true })
    if (isFile) writeFileSync(own, '')
    else for (const name of ['spool', 'state.json']) mkdirSync(join(own, name), { recursive: true })
    const { out, err } = await fire(start())
    const told = isFile ? { systemMessage: `commonplace: ${own} cannot be written: tool events are lost` } : {}
    expect([JSON.parse(out), err]).toEqual([{ ...told, ...output }, ''])
    for (const event of [prompt('a'), tool('t1'), stop()]) expect(await fire(event)).toMatchObject({ code: 0, err: '' })
    const kept = ['SessionStart', 'UserPromptSubmit', ...(isFile ? [] : ['PostToolUse']), 'Stop']
    expect(sent().map(({ event }) => event.hook_event_name)).toEqual(kept)
    server.received.length = 0
  }
})

it('reads a file of settings and an event also after the byte order mark that Windows editors write', async () => {
  mkdirSync(join(home, '.commonplace'))
  writeFileSync(
    join(home, '.commonplace', 'config.json'),
    `\ufeff${JSON.stringify({ url: server.url, key: 'cp_kept' })}`,
  )
  await fire(`\ufeff${JSON.stringify(stop())}`, 'claude-code', { COMMONPLACE_URL: '', COMMONPLACE_KEY: '' })
  expect(server.received.map(({ authorization }) => authorization)).toEqual(['Bearer cp_kept'])
})

it('tells the user about a server setting that is not a URL, and which one is used instead', async () => {
  mkdirSync(join(home, '.commonplace'))
  writeFileSync(join(home, '.commonplace', 'config.json'), JSON.stringify({ url: server.url }))
  for (const [name, called] of [
    ['CLAUDE_PLUGIN_OPTION_URL', "the plugin's url"],
    ['COMMONPLACE_URL', 'COMMONPLACE_URL'],
  ] as const) {
    const { out } = await fire(start(), 'claude-code', { COMMONPLACE_URL: '', [name]: 'localhost:8787' })
    expect(JSON.parse(out).systemMessage).toBe(
      `commonplace: ${called} is not a URL that starts with http:// or https://, so ${server.url} is asked`,
    )
  }
})

it('sends a key only to the URL of the same place', async () => {
  await fire(stop(), 'claude-code', {
    CLAUDE_PLUGIN_OPTION_URL: `${server.url}/mcp/core`,
    CLAUDE_PLUGIN_OPTION_KEY: '',
  })
  expect(server.received[0]?.authorization).toBeUndefined()
})

it('knows Cursor, Copilot and VS Code behind hooks of Claude Code, and answers each in its way', async () => {
  server.wanted.output = { additional_context: 'x' }
  const cursor = { CURSOR_VERSION: '3' }
  expect((await fire({ ...prompt('a'), conversation_id: 'c' }, 'claude-code', cursor)).out).toBe('{}\n')
  server.wanted.output = { additionalContext: 'x' }
  expect((await fire(start(), 'vscode', { COPILOT_CLI: '1' })).out).toBe('{"additionalContext":"x"}\n')
  await fire({ hook_event_name: 'Stop', session_id: 's', cwd: home, timestamp: 't' })
  const clients = server.received.map(({ path }) => path.split('/').at(-1))
  expect(clients).toEqual(['cursor', 'copilot', 'vscode'])
  const names = ['Stop', 'stop'].map((hook_event_name) => ({ hook_event_name, conversation_id: 'c', cwd: home }))
  for (const event of names) await fire(event, 'cursor', cursor)
  expect(
    new Set(
      sent()
        .slice(-2)
        .map(({ id }) => id),
    ).size,
  ).toBe(1)
})

it('takes out what is private where it begins in one part of a message of OpenCode and ends in another', async () => {
  const parts = ['keep <private>one', 'two</private> and this'].map((text) => ({ type: 'text', text }))
  const session = { id: 'o1', directory: home }
  await fire(
    { hook: 'chat.message', input: { sessionID: 'o1' }, output: { message: { id: 'm1' }, parts }, session },
    'opencode',
  )
  expect(JSON.stringify(sent())).not.toMatch(/one|two/)
  expect(JSON.stringify(sent())).toMatch(/keep[\s\S]*and this/)
})

it('reports to the person once at the next start in the folder how memory was used, and at each start which sessions await review', async () => {
  server.wanted.more = { memory: { session: 's1', shown: 6, used: 3, captured: 1 } }
  await fire(stop())
  server.wanted.more = { waiting: 3 }
  const output = { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'what stands' } }
  server.wanted.output = output
  const waits = `3 sessions wait for review: ${server.url}/review`
  const told = async (event: object) => JSON.parse((await fire(event)).out)
  const elsewhere = { ...start(), cwd: tmpdir() }
  expect(await told(elsewhere)).toEqual({ systemMessage: `commonplace: ${waits}`, ...output })
  const counts = 'memory: 6 shown, 3 used, 1 captured'
  expect(await told(start())).toEqual({ systemMessage: `commonplace: ${counts}; ${waits}`, ...output })
  expect(await told(start())).toEqual({ systemMessage: `commonplace: ${waits}`, ...output })
  server.wanted.more = { waiting: 1 }
  expect((await told(start())).systemMessage).toBe(`commonplace: 1 session waits for review: ${server.url}/review`)
  expect(await told({ ...start(), source: 'compact' })).toEqual(output)
  server.wanted.more = { waiting: 0 }
  expect(await told(start())).toEqual(output)
})

it('[CAPTURE-88] counts what a model proposed from the session among what was captured', async () => {
  server.wanted.more = { memory: { session: 's1', shown: 6, used: 3, captured: 1 } }
  await fire(stop())
  server.wanted.more = { waiting: 1, proposed: { s1: 2, s2: 4 } }
  const { systemMessage } = JSON.parse((await fire(start())).out)
  const waits = `1 session waits for review: ${server.url}/review`
  expect(systemMessage).toBe(`commonplace: memory: 6 shown, 3 used, 3 captured; ${waits}`)
})

it('writes no control character of a server or of a stored count to a terminal', async () => {
  const hostile = '\u001b]0;owned\u0007\u009b2J\n'
  server.wanted.more = {
    memory: { session: 's1', shown: `1${hostile}`, used: hostile, captured: hostile },
    notice: hostile,
  }
  await fire(stop())
  const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
  expect((await fire({ session_id: 's1' }, 'statusline')).out).not.toMatch(controls)
  const { systemMessage } = JSON.parse((await fire(start())).out)
  expect(systemMessage).toContain('owned')
  expect(systemMessage).not.toMatch(/\p{Cc}/u)
})

it('shows in a status line what memory did in its session and what waits, without asking the server', async () => {
  const line = async (session_id: string) =>
    (await fire({ session_id, workspace: { current_dir: home } }, 'statusline')).out
  expect(await line('s1')).toBe('\n')
  server.wanted.more = { waiting: 100 }
  await fire(start())
  server.wanted.more = { memory: { session: 's1', shown: 2, used: 0, captured: 1 } }
  await fire(stop())
  const asked = server.received.length
  const waits = `100 or more sessions wait for review: ${server.url}/review\n`
  expect(await line('s1')).toBe(`memory: 2 shown, 0 used, 1 captured; ${waits}`)
  expect(await line('s2')).toBe(waits)
  expect(server.received).toHaveLength(asked)
})

it('lets calls of our tools wait as other tools do, with ids alone, and none of another server', async () => {
  const call = (id: string, tool_name: string, tool_input: unknown) => ({ ...tool(id), tool_name, tool_input })
  await fire(call('m1', 'mcp__plugin_commonplace_commonplace__fetch', { ids: [3, '4'], around: 'harbour' }))
  await fire(call('m2', 'mcp__commonplace__update', { id: 5, content: 'harbour' }))
  await fire(call('m3', 'commonplace-remember', JSON.stringify({ title: 'harbour', replaces: [6] })))
  await fire(call('m4', 'mcp__web__fetch', { ids: [7] }))
  await fire(call('m5', 'mcp__plugin_commonplace_commonplace__search', { query: 'harbour' }))
  expect(server.received).toEqual([])
  await fire(stop())
  expect(sent().flatMap(({ event }) => (event.tool_input === undefined ? [] : [event.tool_input]))).toEqual([
    { id: [], ids: [3, 4], replaces: [], merges: [] },
    { id: [5], ids: [], replaces: [], merges: [], changes_words: true },
    { id: [], ids: [], replaces: [6], merges: [] },
  ])
  expect(JSON.stringify(sent())).not.toContain('harbour')
})

it('asks for the memory of a subagent at its start, twice where two begin in one turn, and reports nothing to the person there', async () => {
  const output = { hookSpecificOutput: { hookEventName: 'SubagentStart', additionalContext: 'about the task' } }
  Object.assign(server.wanted, { output, more: { waiting: 3 } })
  const begins = (agent_id: string) => ({
    ...{ ...prompt('x', 'p1'), hook_event_name: 'SubagentStart', agent_id, agent_type: 'Explore', prompt: undefined },
  })
  for (const id of ['a1', 'a2']) expect(JSON.parse((await fire(begins(id))).out)).toEqual(output)
  expect(new Set(sent().map(({ id }) => id)).size).toBe(2)
  writeFileSync(join(home, '.commonplace.json'), '{"recall": "start"}')
  expect((await fire(begins('a3'))).out).toBe('')
})
