import { objectOf, textOf } from '../../domain/capture/fields'
import type { Fields, Happening, HookClient, What } from '../../domain/capture/happening'
import { whatOf } from './claude-code'
import { toolUse } from './tool-use'

/** Cursor (cursor.com/docs/hooks): sessions are conversations; it runs the hooks of Claude Code too, under its own names. */

/** Older versions tell of commands and edits by events of their own. */
function ownOf(name: string, event: Fields): What | null {
  if (name === 'afterShellExecution') {
    const use = toolUse('Shell', { command: event.command }, 'unknown', event.output)
    return use === null ? null : { kind: 'tool', ...use }
  }
  if (name === 'afterFileEdit') {
    const use = toolUse('Edit', { file_path: event.file_path }, 'success', null)
    return use === null ? null : { kind: 'tool', ...use }
  }
  return whatOf(name, event, 'success')
}

function read(event: Fields): Happening | null {
  const name = textOf(event, 'hook_event_name')
  const session = textOf(event, 'conversation_id', 'session_id')
  if (name === null || session === null || session === '') return null
  const what = ownOf(name, { ...event, tool_input: objectOf(event, 'tool_input') })
  return what === null ? null : { session, isSubagent: name === 'subagentStop', name, what }
}

export const cursor: HookClient = {
  title: 'Cursor',
  read,
  answer: {
    start: (text) => ({ additional_context: text }),
    prompt: () => null,
    empty: ({ what }) => (what.kind === 'prompt' ? {} : null),
  },
}
