import { expect, it } from 'vitest'
import { readServeArguments } from '../../scripts/serve/arguments.mjs'
import { userDataFolder } from '../../src/cli/place.mjs'

const read = (...args: string[]) => readServeArguments(args, { root: '/checkout' })

it('takes what wrangler dev is started with by habit, where it changes nothing here', () => {
  const plain = read()
  expect(read('--local', '--log-level', 'debug', '--inspector-port', '0')).toEqual(plain)
  expect(plain).toMatchObject({ port: 8787, ip: 'localhost', inspectorPort: undefined })
  expect(read('--port=9000', '--inspector-port', '9229', '--local')).toMatchObject({ port: 9000, inspectorPort: 9229 })
  expect(() => read('--remote')).toThrow(/^Unknown option '--remote'; npm start takes --port N/)
})

it('keeps data of the package where each system keeps those of a user, and where COMMONPLACE_DATA says', () => {
  const folder = (platform: NodeJS.Platform, env: Record<string, string> = {}) =>
    userDataFolder(env, platform, '/home/ada').replaceAll('\\', '/')
  expect([folder('linux'), folder('linux', { XDG_DATA_HOME: '/data' })]).toEqual([
    ...['/home/ada/.local/share/commonplace', '/data/commonplace'],
  ])
  expect(folder('darwin')).toBe('/home/ada/Library/Application Support/commonplace')
  expect(folder('win32', { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' })).toBe(
    'C:/Users/ada/AppData/Local/commonplace',
  )
  expect(folder('win32')).toBe('/home/ada/AppData/Local/commonplace')
  expect(folder('win32', { COMMONPLACE_DATA: 'D:/memory' })).toBe('D:/memory')
})
