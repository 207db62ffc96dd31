import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { cloneCheckout } from '../../support/clone'
import { INHERITED, serveProcess } from '../../support/serve-process'

it('keeps the data of a checkout over `git pull` and `npm start`, as docs/upgrading.md promises', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-upgrade-'))
  const upstream = cloneCheckout(join(folder, 'upstream'))
  const checkout = join(folder, 'checkout')
  execFileSync('git', ['clone', '--quiet', upstream, checkout])
  execFileSync('ln', ['-s', join(upstream, 'node_modules'), join(checkout, 'node_modules')])
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { PATH, EMBEDDING_PROVIDER: 'local', HOME: folder }
  const start = async () => {
    const port = await freePort()
    return serveProcess(['npm', 'start', '--', '--port', String(port)], port, { cwd: checkout, env })
  }
  const commonplace = (...args: string[]) =>
    execFileSync('npm', ['run', '-s', 'commonplace', '--', ...args], {
      ...{ cwd: checkout, encoding: 'utf8', env: { ...INHERITED, ...env } },
    })
  const first = await start()
  commonplace('remember', 'The crane needs new brakes.')
  await first.stop()
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  execFileSync('git', [...author, 'commit', '--quiet', '--allow-empty', '-m', 'next'], { cwd: upstream })
  execFileSync('git', ['pull', '--quiet'], { cwd: checkout })
  const second = await start()
  expect(commonplace('search', 'brakes of the crane')).toContain('The crane needs new brakes')
  await second.stop()
  rmSync(folder, { recursive: true })
})
