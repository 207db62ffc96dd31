// Shows what coding agents pass to their model for an entry with an image.
import { askAgents } from './agents.mjs'
import { call, storeSample, told } from './server.mjs'

const id = await storeSample()
const tool = 'get_context_by_ids'
await askAgents(
  {
    prompt: 'Fetch the entry.',
    tools: [tool],
    script: (results) => (results.length === 0 ? { tool, args: { context_ids: [id] } } : { answer: 'done' }),
  },
  (received) => `received ${told(received)}`,
)
await call('delete_context', { context_ids: [id] })
