import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serviceOf } from '../../src/cli/service.mjs'
import { ROOT } from '../support/build'

const PROGRAM = { node: '/usr/bin/node', script: '/opt/R&D 100%/bin.mjs', data: '/home/ada/My data', port: '9000' }
const FIXTURES = join(ROOT, 'test', 'fixtures', 'service')

it.each([
  ['linux', 'commonplace.service'],
  ['darwin', 'io.github.commonplace-memory.plist'],
  ['win32', 'commonplace-task.xml'],
] as const)('the service of %s is the file of its fixture', (platform, name) => {
  const file = join(FIXTURES, name)
  const { text } = serviceOf(platform, PROGRAM, '/home/ada')
  if (process.env.UPDATE_FIXTURES) {
    mkdirSync(FIXTURES, { recursive: true })
    writeFileSync(file, text)
  }
  expect(text).toBe(readFileSync(file, 'utf8'))
})

it('systemd forgets a removed unit: it is loaded again after the file is deleted', () => {
  const { remove, afterwards } = serviceOf('linux', PROGRAM, '/home/ada')
  expect([remove.map((words) => words[2]), afterwards]).toEqual([
    ['disable'],
    [['systemctl', '--user', 'daemon-reload']],
  ])
})

it.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)('systemd accepts its unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-service-'))
  const file = join(folder, 'commonplace.service')
  const program = { ...PROGRAM, node: process.execPath }
  writeFileSync(file, serviceOf('linux', program, folder).text)
  const env = { ...process.env, XDG_RUNTIME_DIR: folder }
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', file], { encoding: 'utf8', env })
  // It also lists units of the machine itself.
  expect([status, stderr.split('\n').filter((line) => line.includes('commonplace.service'))]).toEqual([0, []])
  rmSync(folder, { recursive: true })
})
