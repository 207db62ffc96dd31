// Loaded before the hook program (`NODE_OPTIONS=--import`): writes down each event as the client sent it, then lets the program read it.
import { appendFileSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'

const [, program = '', client = ''] = process.argv
if (process.env.RECORD_EVENTS && /hook\.mjs$/.test(program) && client !== 'mcp') {
  const text = readFileSync(0, 'utf8')
  appendFileSync(process.env.RECORD_EVENTS, `${JSON.stringify({ client, event: JSON.parse(text) })}\n`)
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(text)]) })
}
