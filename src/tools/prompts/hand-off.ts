import type { Kind } from '../../domain/entry/kind'
import type { Prompt } from './prompt'

/** What is worth leaving behind, and the kind under which the next agent finds it. */
const WORTH: readonly (readonly [what: string, kinds: readonly Kind[], how: string])[] = [
  ['Decided', ['decision'], 'what was chosen, why, and what was ruled out'],
  ['Done', ['task'], 'with status "done": what works now and how that was verified'],
  ['Open', ['task'], 'with status "todo", "doing" or "blocked": where it stands, the next step, what it waits for'],
  ['Planned', ['plan'], 'steps that were agreed on and not begun'],
  ['Went wrong', ['gotcha', 'error_pattern'], 'the symptom word for word, the cause, the way around'],
  ['Learnt', ['convention', 'procedure'], 'rules to keep, commands that work'],
]

const quote = (value: string): string => JSON.stringify(value)

/** How a memory is stored with the tools at hand. */
function howToStore(tools: ReadonlySet<string>, project: string | undefined, thread: string | undefined): string[] {
  // The core tools have no threads to write to.
  const isCore = tools.has('forget')
  const place = [
    ...(project === undefined ? [] : [`project ${quote(project)}`]),
    ...(thread === undefined || isCore ? [] : [`thread_id ${quote(thread)}`]),
  ]
  const there = place.length === 0 ? '' : ` Use ${place.join(' and ')}.`
  if (tools.has('remember'))
    return [
      `Store each with \`remember\` (title, content, kind).${there}`,
      `When it replaces an older memory, add ${isCore ? 'replaces [<id>]' : 'related_to ["supersedes:<id>"]'}; when it ` +
        'follows from one, related_to "derived_from:<id>"; what it waits for, "depends_on:<id>".',
    ]
  if (tools.has('store_context'))
    return [
      `Store each with \`store_context\` (source "agent", the kind in metadata.kind, a short metadata.title).${
        thread === undefined ? ' Use the thread_id of this conversation or task.' : ` Use thread_id ${quote(thread)}.`
      }${project === undefined ? '' : ` Put metadata.project ${quote(project)}.`}`,
      'When it replaces an older memory, add metadata.supersedes [<id>]; what it waits for, metadata.depends_on [<id>].',
    ]
  return ['No tool for storing is listed here; write the list into your last message instead.']
}

const howToLook = (tools: ReadonlySet<string>): string[] => {
  const look = ['context', 'search', 'hybrid_search_context', 'fts_search_context'].find((name) => tools.has(name))
  const change = tools.has('update_context')
    ? ' and change it with `update_context` (metadata_patch {"status": "done"} ends a task)'
    : tools.has('update')
      ? ' and change it with `update` (status "done" ends a task)'
      : ''
  return look === undefined ? [] : [`Before you store, look with \`${look}\` for what is there already${change}.`]
}

export const handOff: Prompt = {
  name: 'hand_off',
  title: 'Hand off',
  description: 'Store what was decided, done, left open and learnt before this session ends.',
  arguments: [
    { name: 'project', description: 'Project the work belongs to', required: false },
    { name: 'thread_id', description: 'Thread of this conversation or task', required: false },
  ],
  needs: null,
  async text({ tools }, { project, thread_id: thread }) {
    return [
      'This session is about to end. Leave in the shared memory what the next agent should not have to find out again.',
      '',
      'Go through the session and list what is new:',
      ...WORTH.map(([what, kinds, how]) => `- ${what} (kind ${kinds.join(' or ')}): ${how}.`),
      '- Last, one memory of kind session: what was asked, what was reached, where to go on.',
      '',
      ...howToLook(tools),
      ...howToStore(tools, project, thread),
      'One memory for one thing, complete in itself: names, paths, versions and exact error texts; no secrets, nothing ' +
        'that the code says by itself. Leave out what has nothing new.',
      'When all is stored, answer with the list of ids and titles.',
    ].join('\n')
  },
}
