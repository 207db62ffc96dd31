// `npm start`: everything a newcomer needs. Installs what is missing, then serves MCP on this machine, with D1 and R2
// simulated under .wrangler/state. The worker applies its own migrations on the first request.
import { begin } from './begin.mjs'
import { serve } from './serve.mjs'

const options = await begin()
process.exit(
  await serve({
    options,
    config: 'wrangler.toml',
    dataLine: `Data is stored in ${options.shownState} and survives a restart.`,
  }),
)
