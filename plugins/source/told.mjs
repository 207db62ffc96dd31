// The line about memory for the person, at the next start and in a status line. (capture contract §6)
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonIn } from './events.mjs'
import { folderOf, writeWhole } from './spool.mjs'

/** Sessions that are remembered, the newest. */
const MOST_SESSIONS = 20
/** The server counts no further. */
const MOST_WAITING = 100

const fileOf = (home) => join(folderOf(home), 'told.json')

/** @returns {{ url?: string, waiting?: number, sessions: [id: string, folder: string, counts: object, isTold: boolean][] }} */
function read(home) {
  try {
    const told = jsonIn(readFileSync(fileOf(home), 'utf8'))
    return Array.isArray(told.sessions) ? told : { sessions: [] }
  } catch {
    return { sessions: [] }
  }
}

function write(home, told) {
  try {
    writeWhole(fileOf(home), JSON.stringify(told))
  } catch {
    // Only the line for the person is missing then.
  }
}

/** One line without control characters, which a terminal would run. */
export const plain = (text) => text.replace(/[\s\p{Cc}]+/gu, ' ')

const countsLine = ({ shown, used, captured, proposed = 0 }) =>
  shown + captured === 0 ? [] : [`memory: ${shown} shown, ${used} used, ${captured + proposed} captured`]

const waitingLine = ({ url, waiting = 0 }) => {
  if (waiting < 1) return []
  const sessions =
    waiting === 1 ? '1 session waits' : `${waiting}${waiting < MOST_WAITING ? '' : ' or more'} sessions wait`
  return [`${sessions} for review: ${url}/review`]
}

/** Remembers what an answer of the server counts. @param {(session: string) => string | undefined} folderOfSession */
export function hear(home, url, { memory, waiting, proposed = {} }, folderOfSession) {
  if (memory === undefined && waiting === undefined) return
  const told = read(home)
  const others = told.sessions.filter(([id]) => id !== memory?.session)
  const own = memory === undefined ? [] : [[memory.session, folderOfSession(memory.session), memory, false]]
  // A model proposes memories after the session has ended.
  for (const [id, , counts] of others) if (proposed[id] > 0) counts.proposed = proposed[id]
  write(home, {
    ...(waiting === undefined ? { url: told.url, waiting: told.waiting } : { url, waiting }),
    sessions: [...others, ...own].slice(-MOST_SESSIONS),
  })
}

/** The line for the person at a start: counts of the last session in the folder, once, and how many sessions wait. */
export function atStart(home, folder) {
  const told = read(home)
  const last = told.sessions.findLast((one) => one[1] === folder && !one[3])
  if (last !== undefined) {
    last[3] = true
    write(home, told)
  }
  return [...(last === undefined ? [] : countsLine(last[2])), ...waitingLine(told)]
}

/** One line for Claude Code's status line: of its session, and what waits. @param {Record<string, any>} event on stdin */
export function statusLine(home, { session_id: session }) {
  const told = read(home)
  const own = told.sessions.find(([id]) => id === session)
  return plain([...(own === undefined ? [] : countsLine(own[2])), ...waitingLine(told)].join('; '))
}
