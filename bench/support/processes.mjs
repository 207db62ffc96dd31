// The processes of a server, and how they are ended without a word to them.
import { readdirSync, readFileSync } from 'node:fs'

/** All processes below one, as Linux tells it; the one itself comes last. @param {number} pid @returns {number[]} */
export function family(pid) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        // The name of a program may hold anything, so what counts begins after its closing bracket.
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid
      } catch {
        return false
      }
    })
  return [...children.flatMap((name) => family(Number(name))), pid]
}

/** The workerd below this process that serves a port. @param {number} port */
export function workerdOf(port) {
  const said = (/** @type {number} */ pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }
  return family(process.pid).filter((pid) => {
    const line = said(pid)
    return /workerd[^\0]*\0serve/.test(line) && line.includes(`:${port}\0`)
  })
}

/** Ends processes at once (SIGKILL), in this order. @param {readonly number[]} pids */
export function killAll(pids) {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has just ended by itself.
    }
}
