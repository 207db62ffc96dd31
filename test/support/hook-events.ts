/** Client events as in the clients' documentation, for tests of the server. */
export const REMOTE = 'git@github.com:Acme/Ferry.git'
export const PLACE = { folder: '/home/ada/ferry', remote: REMOTE, branch: 'main' }

interface Named {
  readonly id: string
  readonly event: Record<string, unknown>
}

/** Claude Code's events of a session, with the IDs of the hook program. */
export function claudeCode(session: string) {
  let n = 0
  const named = (hook_event_name: string, rest: Record<string, unknown>): Named => ({
    id: `${session}-${++n}`,
    event: { session_id: session, cwd: '/home/ada/ferry', hook_event_name, ...rest },
  })
  return {
    start: (source = 'startup') => named('SessionStart', { source }),
    prompt: (prompt: string) => named('UserPromptSubmit', { prompt, prompt_id: `p${n}` }),
    edit: (file_path: string) =>
      named('PostToolUse', { tool_name: 'Edit', tool_input: { file_path }, tool_response: {}, tool_use_id: `t${n}` }),
    ran: (command: string) =>
      named('PostToolUse', {
        ...{
          tool_name: 'Bash',
          tool_input: { command },
          tool_response: { stdout: 'ok', stderr: '' },
          tool_use_id: `t${n}`,
        },
      }),
    failed: (command: string, error = 'Exit code 1\nboom') =>
      named('PostToolUseFailure', { tool_name: 'Bash', tool_input: { command }, error, tool_use_id: `t${n}` }),
    stop: (last_assistant_message = 'Done.') => named('Stop', { last_assistant_message, stop_hook_active: false }),
    compact: () => named('PreCompact', { trigger: 'auto' }),
    end: () => named('SessionEnd', { reason: 'other' }),
  }
}
