import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Plugin files as the clients document them (capture contract §1); clients ignore unknown members without an error. */
const ROOT = join(import.meta.dirname, '..', '..')
const json = (...parts: string[]) => JSON.parse(readFileSync(join(ROOT, ...parts), 'utf8'))
const OURS = ['plugins', 'commonplace'] as const
const AGENT = ['plugins', 'agent-plugin'] as const

/**
 * Members in `cursor/plugins/schemas/plugin.schema.json`, which allows no others, and
 * `agent-plugins.org/schemas/1.0.0/plugin.schema.json`.
 */
const MEMBERS = {
  cursor:
    'name displayName description version author publisher homepage repository license logo keywords category tags commands ' +
    'agents skills rules hooks variables mcpServers',
  agent: '$schema name version description author homepage repository license keywords extensions',
}
/**
 * Events in cursor.com/docs/hooks, and docs.github.com/en/copilot/reference/hooks-reference by the names that VS Code
 * also supports.
 */
const EVENTS = {
  cursor:
    'sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart subagentStop beforeShellExecution ' +
    'afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt preCompact stop ' +
    'afterAgentResponse afterAgentThought',
  copilot:
    'SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact SubagentStart SubagentStop Stop',
}
const unknown = (given: object, known: string): string[] =>
  Object.keys(given).filter((name) => !known.split(' ').includes(name))

/** Events before a tool runs, whose failing hook blocks the tool. */
const ASKED_BEFORE = /^(?:pre|before)(?:tooluse|shell|mcp|read)|permission/i

describe('files of the plugins', () => {
  it('of Cursor hold members and events of its schema alone, and name what is there', () => {
    const manifest = json(...OURS, '.cursor-plugin', 'plugin.json')
    expect(unknown(manifest, MEMBERS.cursor)).toEqual([])
    expect(manifest.name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
    for (const name of ['hooks', 'rules', 'skills']) expect(existsSync(join(ROOT, ...OURS, manifest[name]))).toBe(true)
    expect(manifest.mcpServers.commonplace).toEqual({
      ...{ command: 'node', args: ['$' + '{CURSOR_PLUGIN_ROOT}/hook.mjs', 'mcp'] },
    })
    const { version, hooks } = json(...OURS, manifest.hooks)
    expect([version, unknown(hooks, EVENTS.cursor)]).toEqual([1, []])
    for (const [event, entries] of Object.entries(hooks)) {
      const command = `node "$${'{CURSOR_PLUGIN_ROOT}'}/hook.mjs" cursor`
      expect([event, ASKED_BEFORE.test(event), entries]).toEqual([event, false, [{ command, timeout: 5 }]])
    }
    expect(readFileSync(join(ROOT, ...OURS, 'rules', 'commonplace.mdc'), 'utf8')).toMatch(
      /^---\n(?:.*\n)*alwaysApply: true\n---\n/,
    )
  })

  it('of the agent-plugins format hold its members alone, and hooks in the places of Copilot and VS Code', () => {
    const manifest = json(...AGENT, 'plugin.json')
    expect(unknown(manifest, MEMBERS.agent)).toEqual([])
    expect(json(...AGENT, 'mcp.json').mcpServers.commonplace).toEqual({
      ...{ type: 'stdio', command: 'node', args: ['$' + '{PLUGIN_ROOT}/hook.mjs', 'mcp'] },
    })
    const { version, hooks } = json(...AGENT, 'com.github.copilot', 'hooks', 'hooks.json')
    expect([version, unknown(hooks, EVENTS.copilot)]).toEqual([1, []])
    for (const [event, entries] of Object.entries(hooks)) {
      const command = `node "$${'{PLUGIN_ROOT}'}/hook.mjs" vscode`
      expect([event, ASKED_BEFORE.test(event), entries]).toEqual([
        ...[event, false, [{ type: 'command', command, timeout: 5 }]],
      ])
    }
  })

  it('keep away what would make another client load the wrong ones', () => {
    expect(['plugin.json', 'hooks/hooks.json'].filter((file) => existsSync(join(ROOT, ...OURS, file)))).toEqual([])
    const { plugins } = json('.claude-plugin', 'marketplace.json')
    expect(plugins.map(({ name, source }: Record<string, string>) => [name, source])).toEqual([
      ['commonplace', './plugins/commonplace'],
      ['commonplace-agent', './plugins/agent-plugin'],
    ])
    for (const [folder, file] of [
      ['.claude-plugin', 'claude-code.json'],
      ['.codex-plugin', 'codex.json'],
    ] as const) {
      expect(json(...OURS, folder, 'plugin.json').hooks).toBe(`./hooks/${file}`)
      const { hooks } = json(...OURS, 'hooks', file)
      expect([file, Object.keys(hooks).filter((event) => ASKED_BEFORE.test(event))]).toEqual([file, []])
    }
  })
})
