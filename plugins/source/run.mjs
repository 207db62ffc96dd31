// Handles one event of a client (capture contract §2).
import { withChanges } from './cited.mjs'
import { cleanEvent } from './clean.mjs'
import { clientOf, idOf, isFields, isWorkOf, kindOf, nameOf, sessionOf } from './events.mjs'
import { placeOf } from './place.mjs'
import { NoAnswer, senderTo } from './send.mjs'
import { settingsOf } from './settings.mjs'
import { folderOf, openSpool } from './spool.mjs'
import { atStart, hear, plain } from './told.mjs'

/** A person waits for a start and a prompt; SessionEnd has 1.5 s in Claude Code. */
const LONGEST_MS = { start: 2_000, prompt: 2_000, agent: 2_000, other: 1_000 }
/** Events that wait for an answer of the server. */
const ANSWERED = ['start', 'prompt', 'agent']
/** Members that a response never contains, because they would block a turn or start one. */
const NEVER = ['decision', 'continue', 'stopReason']

const clock = (ms) => new Date(ms).toTimeString().slice(0, 5)
const counted = (count) => `${count} ${count === 1 ? 'event waits' : 'events wait'}`

/** One line for the person, or nothing. */
function messageOf({ url, flaw, state, waiting, lost, isOff, isUnreadable, unwritten, notice, told }) {
  const said = []
  if (flaw !== null) said.push(`${flaw}, so ${url} is asked`)
  if (state.status === 401 || state.status === 403) said.push(`${url} refuses the key, ${counted(waiting)}`)
  else if (state.failedSince !== undefined)
    said.push(`cannot reach ${url} since ${clock(state.failedSince)}, ${counted(waiting)}`)
  if (isUnreadable) said.push('.commonplace.json cannot be read as a JSON object: nothing is captured here')
  else if (isOff) said.push('capture is off here (.commonplace.json)')
  if (unwritten !== null) said.push(`${unwritten} cannot be written: tool events are lost`)
  if (lost > 0) said.push(`${lost} ${lost === 1 ? 'event was' : 'events were'} lost`)
  if (typeof notice === 'string' && notice !== '') said.push(notice.slice(0, 500))
  said.push(...told)
  return said.length === 0 ? null : plain(`commonplace: ${said.join('; ')}`)
}

const allowed = (output) =>
  isFields(output) ? Object.fromEntries(Object.entries(output).filter(([name]) => !NEVER.includes(name))) : null

/** The stored state of the connection to the server. */
function nextState(spool, error, toldLost) {
  const before = spool.state()
  const now = Date.now()
  const state =
    error === null
      ? { answeredAt: now, toldLost }
      : {
          toldLost,
          ...(before.answeredAt === undefined ? {} : { answeredAt: before.answeredAt }),
          failedSince: before.failedSince ?? now,
          ...(error.status === undefined ? {} : { status: error.status }),
        }
  const isSame = error !== null && before.failedSince === state.failedSince && before.status === state.status
  if (!isSame) spool.remember(state)
  return state
}

/**
 * @param {string} argument name of the client in the hook's command
 * @param {Record<string, any>} event as sent by the client
 * @param {{ env: Record<string, string | undefined>, home: string }} around
 * @returns {Promise<{ client: string, kind: string, output: Record<string, any> | null, message: string | null }>}
 */
export async function handle(argument, event, { env, home }) {
  const client = clientOf(argument, event, env)
  const kind = kindOf(event)
  const nothing = { client, kind, output: null, message: null }
  if (nameOf(event) === '' || (kind === 'tool' && !isWorkOf(event))) return nothing
  const at = Date.now()
  const until = at + (LONGEST_MS[kind] ?? 0)
  const { place, own, recall, isUnreadable } = placeOf(event, env, home)
  const isOff = place.capture === false
  const asks = kind === 'start' ? recall !== 'off' : ANSWERED.includes(kind) && recall === 'all'
  const isAsked = asks && !(client === 'cursor' && kind === 'prompt')
  const spool = openSpool(home)
  const record = { client, id: idOf(client, event), at, event: cleanEvent(event), place }
  if (isOff && kind !== 'start' && !isAsked) return nothing
  const name = isOff ? null : spool.put(record)
  // Urgent events are sent at once; tool events are too many for that.
  const isUnwritten = !isOff && name === null
  if (kind === 'tool') return nothing

  const { url, key, flaw } = settingsOf(env, home)
  const sender = senderTo({
    ...{ spool, url, key, until },
    hear: (answer, records) =>
      hear(
        home,
        url,
        answer,
        (session) => records.find((one) => sessionOf(one.client, one.event) === session)?.place.folder,
      ),
  })
  const lost = spool.lost()
  let [output, notice, error] = [null, undefined, null]
  try {
    if (isAsked || isUnwritten || (name !== null && ANSWERED.includes(kind))) {
      const answer = await sender.ask([record], isAsked ? record.id : undefined)
      if (name !== null) answer === null ? spool.lose(name) : spool.remove(name)
      output = withChanges(allowed(answer?.output), answer?.cited, own)
      notice = answer?.notice
    }
    const release = spool.takeLock(Date.now())
    try {
      if (release !== null) {
        spool.bound(at)
        spool.sweep(at)
        notice = (await sender.waiting()) ?? notice
      }
    } finally {
      release?.()
    }
  } catch (problem) {
    if (!(problem instanceof NoAnswer)) throw problem
    error = sender.hasAnswered() && problem.status === undefined ? null : problem
  }
  const state = nextState(spool, error, sender.told())
  if (kind !== 'start') return { ...nothing, output }
  const unwritten = isUnwritten ? folderOf(home) : null
  const message = messageOf({
    url,
    flaw,
    state,
    waiting: spool.names().length,
    lost,
    isOff,
    isUnreadable,
    unwritten,
    notice,
    // The person has read the line before the session was compacted or cleared.
    told: ['compact', 'clear'].includes(event.source) ? [] : atStart(home, place.folder),
  })
  // Already reported to the server and the user.
  if (error === null && sender.told() >= lost && lost > 0) {
    spool.forgetLost()
    spool.remember({ ...state, toldLost: 0 })
  }
  return { ...nothing, output, message }
}

/** Formats the output for each client. @returns {{ out: string, err: string }} */
export function printed({ client, kind, output, message }) {
  if (!ANSWERED.includes(kind)) return { out: '', err: '' }
  const line = (value) => `${JSON.stringify(value)}\n`
  if (client === 'cursor') {
    const answer = kind === 'prompt' ? {} : output
    return { out: answer === null ? '' : line(answer), err: message === null ? '' : `${message}\n` }
  }
  if (client === 'copilot') {
    const progress = message === null ? '' : line({ type: 'progress', message })
    return { out: kind === 'prompt' ? '' : progress + (output === null ? '' : line(output)), err: '' }
  }
  const answer = message === null ? output : { systemMessage: message, ...output }
  return { out: answer === null ? '' : line(answer), err: '' }
}
