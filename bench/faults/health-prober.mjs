// Asks /health without a pause, as a process of its own: neither the server nor the bench can delay it. Started by health.mjs.
import { Agent, request } from 'node:http'

/** Between two requests. */
const PAUSE_MS = 2

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const url = `${process.argv[2]}/health`
/** @type {number[]} */
let answered = []
let isLapEnding = false
process.on('message', () => {
  isLapEnding = true
})

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
  answered.push(await ask())
  // A lap ends with an answer, so that a server which is still busy is measured to its end.
  if (isLapEnding) {
    process.send?.(answered)
    answered = []
    isLapEnding = false
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
