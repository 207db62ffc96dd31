// Finds and kills the processes of a server.
import { readdirSync, readFileSync } from 'node:fs'

/** Returns all child processes on Linux; the process itself comes last. @param {number} pid @returns {number[]} */
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

/**
 * Whether nothing of a process is left that could hold a port or a file: a process that is ended becomes a zombie when its first
 * thread is gone, and its files are closed with its last one.
 *
 * @param {number} pid
 */
function isGone(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const state = stat.slice(stat.lastIndexOf(')') + 2)[0]
    return (state === 'Z' || state === 'X') && readdirSync(`/proc/${pid}/task`).length <= 1
  } catch {
    return true
  }
}

/**
 * Ends processes at once (SIGKILL), in this order.
 *
 * @param {readonly number[]} pids
 * @returns {Promise<void>} when all are gone, with their ports and files
 */
export async function killAll(pids) {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has just ended by itself.
    }
  while (!pids.every(isGone)) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Milliseconds of processor time of a process, all its threads, as Linux counts them. @param {number} pid */
export const processorOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )
