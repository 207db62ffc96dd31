import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { cloneCheckout } from '../../support/clone'
import { runBesideSystemd } from '../../support/user-systemd'

/** The service with a real systemd. It fails where systemd cannot run, so that a skipped run never looks like a passed one. */
describe.runIf(process.platform === 'linux')('commonplace service', () => {
  it('starts the server, starts it again after a crash, is found on its port, and is removed with its data left', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-service-'))
    const port = await freePort()
    const checkout = cloneCheckout(join(folder, 'checkout'))
    const commonplace = `"${process.execPath}" "${join(checkout, 'src', 'cli', 'bin.mjs')}"`
    const url = `http://localhost:${port}`
    // A server announces itself where commands of its folder look for it.
    const ready = `until grep -qs ${port} "${checkout}"/.wrangler/servers/*.json && curl -fs ${url}/health > "$HOME/health"; do sleep 0.2; done`
    const pid = 'systemctl --user show --property MainPID --value commonplace'
    try {
      const out = runBesideSystemd(
        `
        ${commonplace} service install --port ${port}
        ${ready}
        ${commonplace} service status
        ${commonplace} remember "It runs as a service." 
        first=$(${pid})
        kill -9 "$first"
        rm "${checkout}"/.wrangler/servers/*.json
        until [ "$(${pid})" != 0 ] && [ "$(${pid})" != "$first" ]; do sleep 0.2; done
        ${ready}
        ${commonplace} search "runs as a service"
        ${commonplace} service remove
        curl -fs ${url}/health || echo "no server"
        ${commonplace} service status || echo "exit $?"
        `,
        { HOME: folder, EMBEDDING_PROVIDER: 'local' },
      )
      expect(out).toContain('The server runs as a service')
      expect(out).toContain('Active: active (running)')
      expect(out).toMatch(/1 {2}It runs as a service/)
      expect(out).toMatch(/The service is removed\. The data stay\.\nno server\nNo service is installed.*\nexit 1\n$/)
      expect(existsSync(join(folder, '.config', 'systemd', 'user', 'commonplace.service'))).toBe(false)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

it('writes what the server prints to the file of --log, which services without a journal use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-log-'))
  const port = await freePort()
  const log = join(folder, 'server.log')
  const program = join(cloneCheckout(join(folder, 'checkout')), 'src', 'cli', 'bin.mjs')
  const child = spawn(process.execPath, [program, 'start', '--port', String(port), '--log', log], {
    ...{ stdio: 'ignore', env: { ...process.env, HOME: folder, EMBEDDING_PROVIDER: 'local' } },
  })
  const printed = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
  while (!printed().includes('Commonplace is ready') && child.exitCode === null) await setTimeout(200)
  expect(printed()).toContain(`Commonplace is ready:  http://localhost:${port}/mcp/core`)
  child.kill('SIGTERM')
  await once(child, 'exit')
  rmSync(folder, { recursive: true })
})
