import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { ROOT } from '../support/build'

/** What bare `npx wrangler dev` does when it is started, and serves then: test/nightly. */
const refused = /Without keys \(AUTH_MODE=open\) only this machine is served/

it('refuses other machines without keys, in what bare wrangler dev runs before it builds', () => {
  // Whose parent is, by its words, wrangler; what it says above comes from this program, too.
  const parent = `process.exit(require('node:child_process').spawnSync(process.execPath, ['scripts/wrangler-dev.mjs'], { stdio: 'inherit' }).status)`
  const { AUTH_MODE: _, ...inherited } = process.env
  const env = { ...inherited, WRANGLER_COMMAND: 'dev' }
  const asked = (...args: string[]) => {
    const given = ['-e', parent, 'wrangler', 'dev', ...args]
    const { status, stderr } = spawnSync(process.execPath, given, { cwd: ROOT, env, encoding: 'utf8' })
    return [status, stderr]
  }
  expect(asked('--ip', '0.0.0.0')).toEqual([1, expect.stringMatching(refused)])
  expect(asked()).toEqual([0, ''])
})
