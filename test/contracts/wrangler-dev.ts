import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/ports.mjs'
import { ADMIN_TOKEN, keyOfNewOrg } from '../support/access'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect } from '../support/clients'

/** The command of a Cloudflare user in a fresh clone after `npm install`: bare `npx wrangler dev`. */
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect

/** @param stays whether it is started a second time on what the first one stored, which served other machines */
export function wranglerDevContract({ stays }: { readonly stays: boolean }): void {
  describe('bare npx wrangler dev in a fresh clone', () => {
    let clone: string
    let child: ChildProcess | undefined
    beforeAll(() => {
      clone = mkdtempSync(join(tmpdir(), 'commonplace-clone-'))
      const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
        cwd: ROOT,
      })
      for (const file of listed
        .toString()
        .split('\0')
        .filter((name) => name !== '')) {
        mkdirSync(dirname(join(clone, file)), { recursive: true })
        cpSync(join(ROOT, file), join(clone, file))
      }
      symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    })
    const end = () =>
      new Promise<void>((resolve) => {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        process.kill(-(child.pid as number), 'SIGTERM')
      })
    afterEach(end)
    afterAll(() => rmSync(clone, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))

    /** Until it serves or has ended. */
    async function wranglerDev(...args: string[]) {
      const port = await freePort()
      const given = ['wrangler', 'dev', '--port', String(port), '--inspector-port', String(await freePort()), ...args]
      const { AUTH_MODE: _, ...inherited } = process.env
      const started = spawn('npx', given, {
        cwd: clone,
        env: {
          ...inherited,
          // No settings of the user, and no network.
          ...{
            XDG_CONFIG_HOME: join(clone, '.config'),
            WRANGLER_SEND_METRICS: 'false',
            CLOUDFLARE_CF_FETCH_ENABLED: 'false',
          },
          ...{ WRANGLER_HIDE_BANNER: 'true', WRANGLER_REGISTRY_PATH: join(clone, '.registry') },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      child = started
      let output = ''
      const code = await new Promise<number | null>((resolve) => {
        for (const stream of [started.stdout, started.stderr])
          stream.on('data', (chunk: Buffer) => {
            output += chunk.toString()
            if (output.includes('Ready on')) resolve(null)
          })
        started.once('exit', resolve)
      })
      return { url: new URL(`http://localhost:${port}/mcp`), code, output: () => output }
    }

    const draft = { thread_id: 't', source: 'user', text: 'elephants remember' }

    /** Data of a first start that required keys and served other machines. */
    async function storedBehindKeys(): Promise<{ readonly key: string; readonly id: number }> {
      const guarded = ['--var', 'AUTH_MODE:required', '--var', `ADMIN_TOKEN:${ADMIN_TOKEN}`]
      const { url, code } = await wranglerDev('--ip', '0.0.0.0', ...guarded)
      expect(code).toBe(null)
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
      const { key } = await keyOfNewOrg(url)
      const writer = await connect(url, key)
      const { data: stored } = await writer.call('store_context', draft)
      await writer.close()
      await end()
      return { key, id: stored.context_id }
    }

    it(`serves MCP at once in open mode, and reports what it does not do${stays ? ', keeps entries from when it served other machines and required keys' : ''}`, async () => {
      const before = stays ? await storedBehindKeys() : null
      const { url, code, output } = await wranglerDev()
      expect([code, output()]).toEqual([null, expect.stringContaining('does not run the schedule')])
      if (before !== null) {
        const again = await connect(url, before.key)
        const { data: kept } = await again.call('search_context', {})
        await again.close()
        expect(kept.results.map(({ id }: { id: number }) => id)).toEqual([before.id])
      }
      const client = await connect(url)
      const { data: own } = await client.call('store_context', draft)
      const { data: found } = await client.call('fts_search_context', { query: 'elephants' })
      await client.close()
      expect(found.results.map(({ id }: { id: number }) => id)).toEqual([own.context_id])
      expect((await fetch(new URL('/ready', url))).status).toBe(200)
      const page = await fetch(new URL('/connect', url), { headers: { accept: 'text/html' } })
      expect(await page.text()).toContain(`claude mcp add --transport http commonplace ${url}/core<`)
    })

    const refused = /Without keys \(AUTH_MODE=open\) only this machine is served/

    if (stays)
      it('refuses to start where its port would serve other machines without keys', async () => {
        const { code, output } = await wranglerDev('--ip', '0.0.0.0')
        expect([code, output()]).toEqual([1, expect.stringMatching(refused)])
      })

    it('refuses other machines without keys in what wrangler runs before it builds', () => {
      // Its parent looks like wrangler; the output above comes from this program, too.
      const parent = `process.exit(require('node:child_process').spawnSync(process.execPath, ['scripts/wrangler-dev.mjs'], { stdio: 'inherit' }).status)`
      const { AUTH_MODE: _, ...inherited } = process.env
      const env = { ...inherited, WRANGLER_COMMAND: 'dev' }
      const asked = (...args: string[]) => {
        const given = ['-e', parent, 'wrangler', 'dev', ...args]
        const { status, stderr } = spawnSync(process.execPath, given, { cwd: clone, env, encoding: 'utf8' })
        return [status, stderr]
      }
      expect(asked('--ip', '0.0.0.0')).toEqual([1, expect.stringMatching(refused)])
      expect(asked()).toEqual([0, ''])
    })
  })
}
