// Loaded before a program (`--import`): on exit, writes its time after Node's own start to file descriptor 3.
import { writeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const own = performance.now() - performance.nodeTiming.bootstrapComplete
  writeSync(3, JSON.stringify({ own, processor: (user + system) / 1000 }))
})
