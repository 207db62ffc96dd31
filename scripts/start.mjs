// `npm start`: everything a newcomer needs. Installs what is missing, then serves MCP on this machine, with D1 and R2
// simulated under .wrangler/state. The worker applies its own migrations on the first request.
import { installMissing } from './install.mjs'
import { serve } from './serve.mjs'

installMissing()
const dataLine = 'Data lives in .wrangler/state and survives a restart.'
process.exit(await serve({ args: process.argv.slice(2), dataLine }))
