import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build'
import { runProgram } from './program'

const PROGRAM = join('plugins', 'commonplace', 'hook.mjs')
export const HOOK = join(ROOT, PROGRAM)
/** Ends the program at a step (KILL_AT), moves its clock (CLOCK_MS), or slows down its time (PATIENCE). */
export const FAULTS = pathToFileURL(join(ROOT, 'test', 'support', 'hook-faults.mjs')).href

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export type Desk = ReturnType<typeof desk>

/** A home in which the hook program runs like in clients, and events of Claude Code. @param url URL of the server */
export function desk(home: string, url: string) {
  const base = () => ({ session_id: 's1', cwd: home, permission_mode: 'default' })
  return {
    /**
     * Runs the program with an event or raw lines on stdin, until it and all users of its output have ended. PATIENCE
     * 1: with its own time limits.
     */
    fire(event: unknown, client = 'claude-code', more: Record<string, string> = {}): Promise<Ran> {
      const settings = { COMMONPLACE_URL: url, COMMONPLACE_KEY: 'cp_mine', PATIENCE: '20' }
      const env = { HOME: home, PATH: process.env.PATH, ...settings, ...more }
      const input = typeof event === 'string' ? event : JSON.stringify(event)
      return runProgram(PROGRAM, [client], env, { input, before: [FAULTS] })
    },
    /** Names of waiting event files. */
    waiting: () => readdirSync(join(home, '.commonplace', 'spool')).filter((name) => name.endsWith('.json')),
    base,
    start: () => ({ ...base(), hook_event_name: 'SessionStart', source: 'startup' }),
    prompt: (text: string, id = 'p1') => ({
      ...base(),
      hook_event_name: 'UserPromptSubmit',
      prompt: text,
      prompt_id: id,
    }),
    tool: (id: string, command = 'npm test', response: unknown = { stdout: 'ok' }) => ({
      ...base(),
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_use_id: id,
      tool_input: { command },
      tool_response: response,
    }),
    stop: (words = 'done') => ({ ...base(), hook_event_name: 'Stop', last_assistant_message: words }),
    end: () => ({ ...base(), hook_event_name: 'SessionEnd', reason: 'other' }),
  }
}
