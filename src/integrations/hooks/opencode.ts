import { isFields, numberOf, objectOf, textOf } from '../../domain/capture/fields'
import type { Fields, Happening, HookClient, What } from '../../domain/capture/happening'
import { toolUse } from './tool-use'

/** OpenCode (opencode.ai/docs/plugins): the plugin sends `{hook, input, output, session: {id, directory}}`. */

/** The words that a person wrote; parts that plugins and tools have put there are synthetic. */
function promptOf(output: Fields): string {
  const { parts } = output
  return (Array.isArray(parts) ? parts : [])
    .flatMap((part) =>
      isFields(part) && part.type === 'text' && part.synthetic !== true ? (textOf(part, 'text') ?? []) : [],
    )
    .join('\n')
}

function whatOf(hook: string, input: Fields, output: Fields): What | null {
  switch (hook) {
    case 'session.created':
      return { kind: 'start', source: 'fresh' }
    case 'chat.message': {
      const text = promptOf(output) || (textOf(output, 'text') ?? textOf(input, 'text') ?? '')
      return text.trim() === '' ? null : { kind: 'prompt', text }
    }
    case 'tool.execute.after': {
      const metadata = objectOf(output, 'metadata')
      const exit = numberOf(metadata, 'exit', 'exitCode')
      const response =
        exit === null ? { output: textOf(output, 'output') ?? textOf(metadata, 'output') ?? '' } : { exit }
      const use = toolUse(textOf(input, 'tool') ?? '', objectOf(input, 'args'), 'unknown', response)
      return use === null ? { kind: 'nothing' } : { kind: 'tool', ...use }
    }
    case 'session.idle':
      return { kind: 'stop', answer: textOf(output, 'text', 'answer') ?? textOf(input, 'text', 'answer') }
    case 'experimental.session.compacting':
    case 'session.compaction':
      return { kind: 'compact' }
    case 'dispose':
    case 'session.deleted':
      return { kind: 'end' }
    default:
      return null
  }
}

function read(event: Fields): Happening | null {
  const hook = textOf(event, 'hook')
  const session = objectOf(event, 'session')
  const input = objectOf(event, 'input')
  const id = textOf(session, 'id') ?? textOf(input, 'sessionID')
  if (hook === null || id === null || id === '') return null
  const what = whatOf(hook, input, objectOf(event, 'output'))
  return what === null ? null : { session: id, isSubagent: textOf(session, 'parentID') !== null, name: hook, what }
}

const words = (text: string): Record<string, unknown> => ({ text })

export const opencode: HookClient = { title: 'OpenCode', read, answer: { start: words, prompt: words } }
