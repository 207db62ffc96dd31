// Commonplace for OpenCode 1 (from 1.18.29: `server`) and 2 (`setup`). 1.x calls both.
import { homedir } from 'node:os'
import { handle } from './hook.mjs'

const ID = 'commonplace'

/** Sends an event; an exception in a plugin would end the turn. @returns {Promise<{ text: string, message: string | null }>} */
async function tell(hook, input, output, session) {
  try {
    const told = await handle('opencode', { hook, input, output, session }, { env: process.env, home: homedir() })
    return { text: typeof told.output?.text === 'string' ? told.output.text : '', message: told.message }
  } catch {
    return { text: '', message: null }
  }
}

/** State of each session while the program runs: its parent, and the text of its last answer. */
class Sessions {
  #known = new Map()
  constructor(directory) {
    this.directory = directory
  }
  of(id) {
    const there = this.#known.get(id) ?? { id, directory: this.directory, isTold: false, text: '' }
    this.#known.set(id, there)
    return there
  }
  ids() {
    return [...this.#known.keys()]
  }
  named({ id, directory, parentID }) {
    return { id, directory, ...(parentID ? { parentID } : {}) }
  }
}

/** OpenCode 1. */
async function server({ client, directory }) {
  const sessions = new Sessions(directory)
  const answers = new Set()
  const toast = async (message) => {
    try {
      // A line that begins with counts names nothing that is wrong.
      const variant = /^commonplace: (?:memory:|\d+ (?:or more )?sessions? )/.test(message) ? 'info' : 'warning'
      if (message !== null) await client.tui.showToast({ body: { message, variant } })
    } catch {
      // Without a terminal the output is not visible.
    }
  }
  async function event({ event: { type, properties } }) {
    if (type === 'session.created' && properties.info?.id) {
      const session = sessions.of(properties.info.id)
      session.parentID = properties.info.parentID
    } else if (type === 'message.updated' && properties.info?.role === 'assistant') answers.add(properties.info.id)
    else if (
      type === 'message.part.updated' &&
      properties.part?.type === 'text' &&
      answers.has(properties.part.messageID)
    ) {
      sessions.of(properties.part.sessionID).text = properties.part.text
    } else if (type === 'session.idle') {
      const session = sessions.of(properties.sessionID)
      await tell('session.idle', properties, { text: session.text }, sessions.named(session))
      answers.clear()
    }
  }
  return {
    event,
    'chat.message': async (input, output) => {
      const session = sessions.of(input.sessionID)
      const named = sessions.named(session)
      const texts = []
      if (!session.isTold && !session.parentID) {
        session.isTold = true
        const start = await tell('session.created', { sessionID: session.id }, {}, named)
        await toast(start.message)
        texts.push(start.text)
      }
      texts.push(
        (await tell('chat.message', input, { message: { id: output.message?.id }, parts: output.parts }, named)).text,
      )
      for (const [i, text] of texts.filter(Boolean).entries())
        output.parts.push({
          id: `prt_${Date.now().toString(16)}commonplace${i}`,
          sessionID: session.id,
          messageID: output.message.id,
          type: 'text',
          text,
          synthetic: true,
        })
    },
    'tool.execute.after': async (input, output) => {
      await tell('tool.execute.after', input, output, sessions.named(sessions.of(input.sessionID)))
    },
    'experimental.session.compacting': async (input) => {
      await tell('experimental.session.compacting', input, {}, sessions.named(sessions.of(input.sessionID)))
    },
    dispose: async () => {
      for (const id of sessions.ids()) await tell('dispose', { sessionID: id }, {}, sessions.named(sessions.of(id)))
    },
  }
}

/** OpenCode 2: the start text is sent with each call in the same bytes, since additions to a context are not stored. */
async function setup(ctx) {
  if (typeof ctx?.session?.hook !== 'function') return
  const sessions = new Sessions(ctx.directory ?? process.cwd())
  const starts = new Map()
  await ctx.session.hook('context', async (event) => {
    const id = event.sessionID
    if (!starts.has(id)) starts.set(id, tell('session.created', { sessionID: id }, {}, sessions.named(sessions.of(id))))
    const { text } = await starts.get(id)
    if (text !== '') event.system.push({ type: 'text', text })
  })
  await ctx.session.hook('compaction', async (event) => {
    await tell('session.compaction', { sessionID: event.sessionID }, {}, sessions.named(sessions.of(event.sessionID)))
  })
  if (typeof ctx.tool?.hook === 'function')
    await ctx.tool.hook('execute.after', async (event) => {
      const { sessionID, tool, callID, input, output, metadata } = event
      await tell(
        'tool.execute.after',
        { sessionID, tool, callID, args: input },
        { output, metadata },
        sessions.named(sessions.of(sessionID)),
      )
    })
}

export default { id: ID, server, setup }
