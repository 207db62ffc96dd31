// Captured sessions of a coding agent, sent as its hooks do, for the review page of the demo.

/** The request, the edited file, the command that failed and then passed, and the outcome. */
const SESSIONS = /** @type {const} */ ([
  [
    'Make the refund table test faster',
    'packages/rules/refund.test.ts',
    'npm test refund',
    'We decided to share one database among the cases. The table test takes 1.2 seconds now.',
  ],
  [
    'Why does the import of Hellenic Lines fail since Monday?',
    'operators/hellenic.yaml',
    'npm run operator:check',
    'Their file has a new column for vehicles. From now on unknown columns are reported and skipped.',
  ],
  [
    'Add the port of Kalymnos to the offline tickets',
    'web/offline/ports.ts',
    'npm run build',
    'Kalymnos is in the list; the service worker renews it at the next visit.',
  ],
  [
    'Rename the flag for group bookings',
    'api/flags.ts',
    'npm run check',
    'We chose group_lines as the name, since it states what changes on the invoice.',
  ],
  [
    'Show the delay on the boarding screen',
    'web/boarding/delay.tsx',
    'npm test boarding',
    'Delays above 15 minutes are shown in the first row, with the time of the last position.',
  ],
  [
    'Check the alert of last night',
    'ops/alerts.yaml',
    'npm run alerts:test',
    'The alert fired for a replica that was being rebuilt. Agreed to wait ten minutes before it fires.',
  ],
])

/** @param {string} origin of the server */
export async function captureSessions(origin) {
  const place = { folder: '/home/ada/ferry-api', project: 'ferry-api', branch: 'main' }
  for (const [i, [prompt, file, command, last]] of SESSIONS.entries()) {
    const session_id = `demo-${i}`
    let at = Date.now() - (SESSIONS.length - i) * 3_600_000
    /** @param {string} hook_event_name @param {Record<string, unknown>} rest */
    const event = (hook_event_name, rest) => {
      at += 60_000
      const id = `${session_id}-${hook_event_name}-${at}`
      return { id, at, place, event: { session_id, cwd: place.folder, hook_event_name, ...rest } }
    }
    const events = [
      event('UserPromptSubmit', { prompt, prompt_id: 'p1' }),
      event('PostToolUse', {
        tool_name: 'Edit',
        tool_input: { file_path: `${place.folder}/${file}` },
        tool_response: {},
        tool_use_id: 't1',
      }),
      event('PostToolUseFailure', {
        tool_name: 'Bash',
        tool_input: { command },
        error: 'Exit code 1\n1 failed',
        tool_use_id: 't2',
      }),
      event('PostToolUse', {
        tool_name: 'Bash',
        tool_input: { command },
        tool_response: { stdout: 'ok', stderr: '' },
        tool_use_id: 't3',
      }),
      event('Stop', { last_assistant_message: last, stop_hook_active: false }),
      event('SessionEnd', { reason: 'other' }),
    ]
    const response = await fetch(new URL('/api/v1/hooks/claude-code', origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ events }),
    })
    if (!response.ok) throw new Error(`hooks: ${await response.text()}`)
  }
}
