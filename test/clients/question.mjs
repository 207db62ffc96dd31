// Measures what a question about one line of a megabyte of log costs an agent. Its model follows the descriptions of the tools: a
// search finds the entry, grep the line, a range the lines around it.
import { askAgents } from './agents.mjs'
import { call } from './server.mjs'

const LINES = Array.from(
  { length: 12_000 },
  (_, i) =>
    `2026-11-20T09:${String(Math.floor(i / 200)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')} INFO worker-${i % 7} handled job ${i} in ${i % 90} ms, queue=nightly`,
)
LINES[8123] = '2026-11-20T09:40:36 ERROR worker-3 could not reach ledger-db:5432 (timeout after 1500 ms), job 8123 lost'
const { context_id: id } = await call('store_context', {
  thread_id: 'night-run',
  source: 'agent',
  text: LINES.join('\n'),
})

/** Returns all strings that a client shows its model, one after the other. */
const textOf = (value) =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value).map(textOf).join('\n')
      : ''
/** A number of a result, however often the client has quoted its JSON. */
const numberIn = (result, name) => Number(new RegExp(`${name}\\\\*"\\s*:\\s*(\\d+)`).exec(textOf(result))?.[1])

const STEPS = [
  () => ({ tool: 'hybrid_search_context', args: { query: 'Which job was lost when the ledger timed out?', limit: 1 } }),
  ([hit]) => ({ tool: 'grep_context', args: { pattern: 'ledger', context_ids: [numberIn(hit, 'id')] } }),
  ([hit, row]) => {
    const line = numberIn(row, 'line_number')
    const args = { context_id: numberIn(hit, 'id'), start_line: line - 2, end_line: line + 2 }
    return { tool: 'read_context_range', args }
  },
  ([, , part]) => ({ answer: `Lost: job ${/job (\d+) lost/.exec(textOf(part))?.[1]}.` }),
]

await askAgents(
  {
    prompt: 'Which job was lost when the ledger timed out?',
    tools: ['hybrid_search_context', 'grep_context', 'read_context_range'],
    script: (results) => STEPS[results.length](results),
  },
  (received, output) => {
    const tokens = Math.ceil(received.map(textOf).join('').length / 4)
    const right = output.includes('Lost: job 8123.') && received.length === 3 && tokens <= 3000
    if (!right) process.exitCode = 1
    return `${right ? 'answered' : 'FAILED'} after ${received.length} results of ${tokens} tokens in all`
  },
)
await call('delete_context', { context_ids: [id] })
