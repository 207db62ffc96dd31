import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { killAll } from '../../bench/support/processes.mjs'
import { freePort, listeningFails } from '../../scripts/ports.mjs'

it('gives ports that no outgoing connection takes, none twice, and none in use', async () => {
  const first = await freePort()
  const taken = createServer().listen(first + 1, '127.0.0.1')
  try {
    await new Promise((resolve) => taken.once('listening', resolve))
    const more = [await freePort(), await freePort(), await freePort()]
    expect(more).not.toContain(first + 1)
    expect(new Set([first, ...more]).size).toBe(4)
    for (const port of [first, ...more]) expect(port).toBeLessThan(32_768)
  } finally {
    taken.close()
  }
})

it('waits for the end of killed processes until their ports are free', async () => {
  const port = await freePort()
  // Memory that takes the system some time to take back, as that of a runtime does.
  const program = `const held = Buffer.alloc(3e8, 1)
    require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('listens', held.length))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(await listeningFails(port, '127.0.0.1')).toBe('EADDRINUSE')
  await killAll([child.pid as number])
  expect(await listeningFails(port, '127.0.0.1')).toBeNull()
})
