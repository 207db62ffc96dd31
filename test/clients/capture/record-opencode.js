// A plugin of OpenCode that writes down what its hooks are told, before ours adds anything.
import { appendFileSync } from 'node:fs'

const file = process.env.RECORD_EVENTS
const write = (event) => file && appendFileSync(file, `${JSON.stringify({ client: 'opencode', event })}\n`)

const server = async ({ directory }) => {
  const session = (id) => ({ id, directory })
  let text = ''
  return {
    event: async ({ event: { type, properties } }) => {
      if (type === 'message.part.updated' && properties.part?.type === 'text') text = properties.part.text
      if (type === 'session.created')
        write({
          hook: type,
          input: { sessionID: properties.info.id },
          output: {},
          session: session(properties.info.id),
        })
      if (type === 'session.idle')
        write({ hook: type, input: properties, output: { text }, session: session(properties.sessionID) })
    },
    'chat.message': async (input, output) =>
      write({
        hook: 'chat.message',
        input,
        output: { message: { id: output.message?.id }, parts: output.parts },
        session: session(input.sessionID),
      }),
    'tool.execute.after': async (input, output) =>
      write({ hook: 'tool.execute.after', input, output, session: session(input.sessionID) }),
  }
}

export default { id: 'record', server }
