// Counts how often a client passes the contents of a pack to its model. A result has them in `structuredContent` and in the text of a block.
import { askAgents } from './agents.mjs'
import { call } from './server.mjs'

const MARK = 'the heron colony of pier nine'
const { id } = await call('remember', {
  title: 'Ferry timetable of the winter',
  content: `Crossings avoid ${MARK} from the first of December on; the captain decides on days of ice.`,
})

/** All strings that a client shows its model, one after the other. */
const textOf = (value) =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value).map(textOf).join('\n')
      : ''

await askAgents(
  {
    prompt: 'Which crossings does the winter timetable avoid?',
    tools: ['context'],
    script: ([pack]) =>
      pack === undefined
        ? { tool: 'context', args: { goal: 'crossings of the ferry timetable of the winter' } }
        : { answer: 'Read.' },
  },
  ([pack]) => {
    const text = textOf(pack)
    const copies = text.split(MARK).length - 1
    if (copies !== 1) process.exitCode = 1
    return `contents ${copies === 1 ? 'once' : `${copies} times`}, ${Math.ceil(text.length / 4)} tokens`
  },
)
await call('delete_context', { context_ids: [id] })
