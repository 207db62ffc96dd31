import { describe, expect, it } from 'vitest'
import type { Fields, HookEventKind } from '../../src/domain/capture/hook-event'
import { CLIENT_NAMES, hookClient, hookClientName } from '../../src/integrations/hooks/hook-clients'
import { commandOf, filesOf, statedOutcome } from '../../src/integrations/hooks/tool-use'

/** The meaning of each client's events, from their documentation (capture contract §3). */
const read = (client: string, event: Fields) => hookClient(client)?.read(event) ?? null
const whatOf = (client: string, event: Fields): HookEventKind | undefined => read(client, event)?.what

describe('events of clients', () => {
  const claude = { session_id: 's', cwd: '/w' }

  it('are known by these names alone', () => {
    expect(hookClientName('vs-code')).toBe('vscode')
    expect(CLIENT_NAMES).toEqual(['claude-code', 'codex', 'cursor', 'copilot', 'vscode', 'opencode', 'generic'])
    expect(hookClient('constructor')).toBeNull()
  })

  it('of Claude Code: both events of a tool, unless its output states that the command failed', () => {
    const bash = (event: string, rest: Fields) =>
      whatOf('claude-code', {
        ...claude,
        hook_event_name: event,
        tool_name: 'Bash',
        tool_input: { command: 'make' },
        ...rest,
      })
    expect(bash('PostToolUse', { tool_response: { stdout: 'ok' } })).toMatchObject({
      command: 'make',
      outcome: 'success',
    })
    expect(bash('PostToolUse', { tool_response: { stdout: 'x: command not found' } })).toMatchObject({
      outcome: 'failure',
    })
    expect(bash('PostToolUseFailure', { error: 'boom' })).toMatchObject({ outcome: 'failure' })
    expect(bash('PostToolUse', { tool_name: 'Read', tool_input: { file_path: '/a' } })).toEqual({ kind: 'nothing' })
    const edit = { tool_name: 'MultiEdit', tool_input: { file_path: '/w/a.ts', edits: [{ old_string: 'a' }] } }
    expect(bash('PostToolUse', edit)).toMatchObject({ files: ['/w/a.ts'], command: null })
    expect(bash('PostToolUse', { tool_name: 1 })).toBeUndefined()
  })

  it('of Claude Code: the source of a start shows whether the session still has its earlier text', () => {
    const start = (source: string) => whatOf('claude-code', { ...claude, hook_event_name: 'SessionStart', source })
    expect(
      ['startup', 'resume', 'fork', 'clear', 'compact'].map((source) => (start(source) as { source: string }).source),
    ).toEqual([...['fresh', 'again', 'again', 'anew', 'anew']])
    expect(start('constructor')).toEqual({ kind: 'start', source: 'fresh' })
  })

  it('of Codex: one event for tools, whose outcome is in the response, and patches that name their files', () => {
    const codex = (tool_name: string, tool_input: Fields, tool_response: unknown) =>
      whatOf('codex', { ...claude, turn_id: 't', hook_event_name: 'PostToolUse', tool_name, tool_input, tool_response })
    expect(codex('Bash', { command: 'make' }, 'all built')).toMatchObject({ outcome: 'unknown' })
    expect(codex('Bash', { command: 'make' }, 'Process exited with code 2')).toMatchObject({ outcome: 'failure' })
    expect(codex('Bash', { command: ['make', 'x'] }, { exit_code: 0 })).toMatchObject({
      command: 'make x',
      outcome: 'success',
    })
    const command = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n*** Add File: b.ts\n*** End Patch'
    expect(codex('apply_patch', { command }, 'Success')).toMatchObject({ files: ['src/a.ts', 'b.ts'], command: null })
  })

  it('of Cursor: conversations are sessions, answers come by an event of their own, and older events are known', () => {
    const cursor = (hook_event_name: string, rest: Fields) =>
      whatOf('cursor', { conversation_id: 'c', generation_id: 'g', hook_event_name, ...rest })
    expect(cursor('beforeSubmitPrompt', { prompt: 'fix it' })).toEqual({ kind: 'prompt', text: 'fix it' })
    expect(cursor('afterAgentResponse', { text: 'done' })).toEqual({ kind: 'stop', answer: 'done' })
    expect(cursor('stop', { status: 'completed' })).toEqual({ kind: 'stop', answer: null })
    expect(cursor('afterShellExecution', { command: 'make', output: 'exit status 1' })).toMatchObject({
      outcome: 'failure',
    })
    expect(cursor('afterFileEdit', { file_path: '/w/a.ts' })).toMatchObject({ files: ['/w/a.ts'] })
    expect(read('cursor', { hook_event_name: 'stop' })).toBeNull()
  })

  it('of Copilot: results of tools have their outcome, and arguments may be JSON in a string', () => {
    const copilot = (rest: Fields) => whatOf('copilot', { sessionId: 's', hook_event_name: 'PostToolUse', ...rest })
    const toolArgs = JSON.stringify({ command: 'make' })
    expect(copilot({ toolName: 'bash', toolArgs, toolResult: { resultType: 'failure' } })).toMatchObject({
      outcome: 'failure',
    })
    const tool_result = { result_type: 'success', text_result_for_llm: 'built' }
    expect(copilot({ tool_name: 'bash', tool_input: { command: 'make' }, tool_result })).toMatchObject({
      outcome: 'success',
    })
    const view = { tool_name: 'str_replace_editor', tool_input: { command: 'view', path: 'a.ts' } }
    expect(copilot(view)).toEqual({ kind: 'nothing' })
  })

  it('of VS Code: paths are called filePath, and prompts take no answer', () => {
    const event = {
      session_id: 's',
      hook_event_name: 'PostToolUse',
      tool_name: 'replace_string_in_file',
      timestamp: 'x',
    }
    expect(whatOf('vscode', { ...event, tool_input: { filePath: '/w/a.ts' } })).toMatchObject({ files: ['/w/a.ts'] })
    expect(hookClient('vscode')?.answer.prompt('text', 'UserPromptSubmit')).toBeNull()
  })

  it('of OpenCode: hooks by their names, prompts without synthetic parts, exits of commands', () => {
    const opencode = (hook: string, input: Fields, output: Fields = {}) =>
      whatOf('opencode', { hook, input, output, session: { id: 's', directory: '/w' } })
    const parts = [
      { type: 'text', text: 'fix it' },
      { type: 'text', text: 'hidden', synthetic: true },
      { type: 'file' },
    ]
    expect(opencode('chat.message', {}, { parts })).toEqual({ kind: 'prompt', text: 'fix it' })
    const bash = { tool: 'bash', callID: 'c', args: { command: 'make' } }
    expect(opencode('tool.execute.after', bash, { output: '', metadata: { exit: 1 } })).toMatchObject({
      outcome: 'failure',
    })
    expect(opencode('tool.execute.after', bash, { output: 'ok', metadata: { exit: 0 } })).toMatchObject({
      outcome: 'success',
    })
    const edit = { tool: 'edit', args: { filePath: 'a.ts' } }
    expect(opencode('tool.execute.after', edit)).toMatchObject({ files: ['a.ts'] })
    expect(opencode('experimental.session.compacting', {})).toEqual({ kind: 'compact' })
    expect(opencode('session.idle', {})).toEqual({ kind: 'stop', answer: null })
  })
})

describe('uses of tools', () => {
  it('name the files that a tool lists as texts, as editFiles of VS Code does', () => {
    expect(filesOf('editFiles', { files: ['/w/a.ts', '/w/b.ts'] })).toEqual(['/w/a.ts', '/w/b.ts'])
  })

  it('of Cursor failed where their output is JSON with another exit code than 0', () => {
    const shell = (exitCode: number) =>
      whatOf('cursor', {
        ...{ conversation_id: 'c', hook_event_name: 'postToolUse', tool_name: 'Shell' },
        ...{ tool_input: { command: 'make' }, tool_output: JSON.stringify({ output: 'x', exitCode }) },
      })
    expect([shell(1), shell(0)]).toMatchObject([{ outcome: 'failure' }, { outcome: 'success' }])
  })

  it('have an outcome only if they state it explicitly', () => {
    const said = [
      'Exit code 1',
      'exited with code 0',
      'exited with exit code 2',
      'exit status 127',
      'zsh: command not found: x',
    ]
    expect(said.map(statedOutcome)).toEqual(['failure', 'success', 'failure', 'failure', 'failure'])
    expect(['3 tests failed', 'Error: x', 'code 1', ''].map(statedOutcome)).toEqual(Array(4).fill('unknown'))
    expect(statedOutcome(`Exit code 1\n${'x'.repeat(5000)}`)).toBe('failure')
  })

  it('name files of tools that change them, and commands of tools that run them', () => {
    expect(filesOf('grep_search', { path: '/w' })).toEqual([])
    expect(filesOf('multi_replace_string_in_file', { replacements: [{ filePath: 'a' }, { filePath: 'a' }] })).toEqual([
      'a',
    ])
    expect(commandOf('edit', { command: 'str_replace' })).toBeNull()
    expect(commandOf('run_in_terminal', { command: ' ' })).toBeNull()
  })
})
