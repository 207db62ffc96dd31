import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { checkUpdates, isNewer } from '../../src/cli/doctor/updates.mjs'
import { nearestWord } from '../../src/cli/nearest.mjs'
import { typedAs } from '../../src/cli/place.mjs'
import { isColored } from '../../src/cli/terminal.mjs'

it('hints print a command in the form in which the program was started', () => {
  const command = (program: string, packaged: boolean, env = {}) => typedAs({ program, packaged, env }).command
  expect(command('/home/ada/commonplace/src/cli/commonplace.mjs', false)).toBe('npm run -s commonplace --')
  expect(command('/usr/local/bin/commonplace', true)).toBe('commonplace')
  expect(command('/usr/local/bin/commonplace', false)).toBe('commonplace')
  expect(command('/usr/local/bin/commonplace-mcp', true)).toBe('commonplace-mcp')
  expect(command('/home/ada/.npm/_npx/1a2b/node_modules/.bin/commonplace-mcp', true)).toBe('npx commonplace-mcp')
  expect(command('/work/node_modules/.bin/commonplace', true, { npm_command: 'exec' })).toBe('npx commonplace-mcp')
  expect(command('/app/src/cli/bin.mjs', true)).toBe('npx commonplace-mcp')
  const { start, startWith } = typedAs({ program: '/usr/bin/commonplace', packaged: true, env: {} })
  expect([start, startWith]).toEqual(['commonplace start', 'commonplace start'])
  // The server is a process of its own and repeats the form of its parent.
  const told = JSON.stringify({ start: 's', startWith: 'w', command: 'c' })
  expect(typedAs({ env: { COMMONPLACE_TYPED: told } }).command).toBe('c')
})

it('a word that is close to a known one is recognized, and a different word is not', () => {
  const known = ['search', 'setup', 'status', 'stdio', 'remember', 'keys create']
  expect(nearestWord('serach', known)).toBe('search')
  expect(nearestWord('stauts', known)).toBe('status')
  expect(nearestWord('rem', known)).toBe('remember')
  expect(nearestWord('dance', known)).toBeUndefined()
})

it('output is colored in a terminal, unless NO_COLOR, FORCE_COLOR or a dumb terminal decide otherwise', () => {
  expect(isColored({ isTTY: true }, {})).toBe(true)
  expect(isColored({}, {})).toBe(false)
  expect(isColored({ isTTY: true }, { NO_COLOR: '1' })).toBe(false)
  expect(isColored({ isTTY: true }, { TERM: 'dumb' })).toBe(false)
  expect(isColored({}, { FORCE_COLOR: '1' })).toBe(true)
  expect(isColored({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(false)
})

it('a check for updates reports a newer release of the registry, and nothing that is older', async () => {
  expect([isNewer('1.0.0', '1.0.0-rc.1'), isNewer('1.0.0-rc.2', '1.0.0-rc.1'), isNewer('1.10.0', '1.9.0')]).toEqual([
    true,
    true,
    true,
  ])
  expect([isNewer('1.0.0-rc.1', '1.0.0'), isNewer('1.0.0', '1.0.0'), isNewer('0.9.9', '1.0.0')]).toEqual([
    false,
    false,
    false,
  ])
  const registry = createServer((request, response) => {
    response.end(JSON.stringify({ version: request.url === '/commonplace-mcp/latest' ? '99.0.0' : '0.0.1' }))
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  const { port } = registry.address() as AddressInfo
  expect(await checkUpdates(`http://127.0.0.1:${port}/`)).toMatchObject({
    ok: null,
    detail: expect.stringMatching(/; 99\.0\.0 is available$/),
  })
  await new Promise((resolve) => registry.close(resolve))
  expect(await checkUpdates(`http://127.0.0.1:${port}`)).toMatchObject({
    ok: null,
    detail: expect.stringContaining('cannot reach'),
  })
})
