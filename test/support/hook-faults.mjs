// Loaded before the hook program (`node --import`): kills it before step KILL_AT, moves its clock by CLOCK_MS, or slows
// its time by the factor PATIENCE, so that a busy machine does not look like a slow server (0.02: 50 times as fast). A
// step is a change on disk or a request.
import fs from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

const at = process.env.KILL_AT === undefined ? -1 : Number(process.env.KILL_AT)
const moved = Number(process.env.CLOCK_MS ?? 0)

let steps = 0
function stepped(object, name) {
  const real = object[name]
  object[name] = function (...args) {
    if (steps++ === at) {
      // A write that is interrupted in the middle.
      if (name === 'writeFileSync') real.call(this, args[0], String(args[1]).slice(0, 20), args[2])
      process.kill(process.pid, 'SIGKILL')
    }
    return real.apply(this, args)
  }
}
for (const name of ['mkdirSync', 'writeFileSync', 'renameSync', 'rmSync', 'appendFileSync', 'linkSync'])
  stepped(fs, name)
stepped(http, 'request')
// An answer that has arrived and is not processed.
stepped(http.IncomingMessage.prototype, 'push')
if (moved !== 0) {
  const now = Date.now
  Date.now = () => now() + moved
}
const patience = Number(process.env.PATIENCE ?? 1)
if (patience !== 1) {
  const [now, timer] = [Date.now, globalThis.setTimeout]
  const begun = now()
  Date.now = () => begun + Math.floor((now() - begun) / patience)
  globalThis.setTimeout = (work, ms, ...given) => timer(work, ms * patience, ...given)
}
syncBuiltinESMExports()
