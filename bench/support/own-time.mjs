// Loaded before a program (`--import`): tells on file descriptor 3, when it ends, what it took beside Node's own start.
import { writeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const own = performance.now() - performance.nodeTiming.bootstrapComplete
  writeSync(3, JSON.stringify({ own, processor: (user + system) / 1000 }))
})
