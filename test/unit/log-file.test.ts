import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rotatingLog } from '../../scripts/serve/log-file.mjs'

it('rotates a log before it exceeds its limit, keeps two older files, and goes on in the file of an earlier start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-log-'))
  const file = join(folder, 'made', 'server.log')
  const read = (ending = '') => readFileSync(`${file}${ending}`, 'utf8')
  rotatingLog(file, 10)('one\n')
  const write = rotatingLog(file, 10)
  write(Buffer.from('two\n'))
  expect(read()).toBe('one\ntwo\n')
  for (const line of ['three\n', 'four\n', 'five\n', 'larger than the limit\n']) write(line)
  expect([read(), read('.1'), read('.2')]).toEqual(['larger than the limit\n', 'four\nfive\n', 'three\n'])
  expect(readdirSync(join(folder, 'made')).sort()).toEqual(['server.log', 'server.log.1', 'server.log.2'])
  rmSync(folder, { recursive: true })
})
