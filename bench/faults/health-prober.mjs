// Requests /health continuously from a separate process, so that neither the server nor the bench can delay it. Started by health.mjs.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { workerdProcess } from './prober.mjs'

/** Between two requests. */
const PAUSE_MS = 2

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const url = `${process.argv[2]}/health`
const pid = workerdProcess(process.ppid)
/** @type {{ms: number, busy: number}[]} each answer, and the processor time that the server's thread took before it */
let answered = []
let isLapEnding = false
process.on('message', () => {
  isLapEnding = true
})

/** Milliseconds of the server's event loop so far; NaN if the system does not report them. */
function ran() {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return Number.NaN
  }
}

/** @returns {Promise<number>} milliseconds until the answer */
const ask = () =>
  new Promise((resolve) => {
    const started = performance.now()
    const end = () => resolve(performance.now() - started)
    const outgoing = request(url, { agent }, (response) => {
      response.on('end', end)
      response.resume()
    })
    outgoing.on('error', end)
    outgoing.end()
  })

for (;;) {
  const before = ran()
  const ms = await ask()
  answered.push({ ms, busy: ran() - before })
  // A lap ends with an answer, so that a server that is still busy is measured to its end.
  if (isLapEnding) {
    process.send?.(answered)
    answered = []
    isLapEnding = false
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
