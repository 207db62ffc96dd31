import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readServeArguments } from '../../scripts/serve/arguments.mjs'
import { chooseVariables, isHidden, readEnvFiles, unknownNames } from '../../scripts/serve/variables.mjs'
import { userDataFolder } from '../../src/cli/place.mjs'
import { isOnlyConfigured } from '../../src/cli/worker-options.mjs'

const read = (...args: string[]) => readServeArguments(args, { root: '/checkout' })

it('accepts options of wrangler dev that change nothing here', () => {
  const plain = read()
  expect(read('--local', '--log-level', 'debug', '--inspector-port', '0')).toEqual(plain)
  expect(plain).toMatchObject({ port: 8787, ip: 'localhost', inspectorPort: undefined })
  expect(read('--port=9000', '--inspector-port', '9229', '--local')).toMatchObject({ port: 9000, inspectorPort: 9229 })
  expect([read('--ip', '0.0.0.0').ip, read('--host', '0.0.0.0').ip]).toEqual(['0.0.0.0', '0.0.0.0'])
  expect(() => read('--remote')).toThrow(/^Unknown option '--remote'; npm start accepts --port N/)
})

it('stores data of the package in the data folder of the system, or in COMMONPLACE_DATA', () => {
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

it('runs wrangler at every start if a file or a variable adds to its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-told-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['wrangler.toml', '.dev.vars.example']) writeFileSync(join(folder, name), '')
  expect(isOnlyConfigured(folder, { CLOUDFLARE_CF_FETCH_ENABLED: 'false' })).toBe(true)
  expect(isOnlyConfigured(folder, { CLOUDFLARE_ENV: 'production' })).toBe(false)
  for (const name of ['.env', '.env.local', '.dev.vars', '.dev.vars.production']) {
    writeFileSync(join(folder, name), 'LOG_LEVEL=ERROR')
    expect([name, isOnlyConfigured(folder, {})]).toEqual([name, false])
    rmSync(join(folder, name))
  }
})

it('requires keys if a file of variables does, unless the environment differs, and --var overrides both', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-variables-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'variables')
  writeFileSync(path, 'AUTH_MODE=required\n')
  const file = readEnvFiles([path], true)
  const mode = (environment: Record<string, string>, args: Record<string, string> = {}) =>
    chooseVariables({ file, environment, args }).AUTH_MODE
  expect([mode({}), mode({ AUTH_MODE: '' })]).toEqual(['required', 'required'])
  expect(mode({ AUTH_MODE: 'open' })).toBe('open')
  expect(mode({ AUTH_MODE: 'open' }, { AUTH_MODE: 'required' })).toBe('required')
  expect(chooseVariables({ file: {}, environment: {}, args: {} }).AUTH_MODE).toBe('open')
  expect(() => readEnvFiles([join(folder, 'none')], true)).toThrow(/--env-file .* cannot be read/)
})

it('prints a line per request if LOG_LEVEL is set in any place, and otherwise omits it', () => {
  const request = '{"level":"INFO","event":"request","route":"ready"}'
  const nothing = { file: {}, environment: {}, args: {} }
  const hides = (said: Partial<typeof nothing>) => isHidden(request, chooseVariables({ ...nothing, ...said }))
  expect(hides({})).toBe(true)
  for (const where of ['file', 'environment', 'args'])
    expect([where, hides({ [where]: { LOG_LEVEL: 'INFO' } })]).toEqual([where, false])
  expect(isHidden('{"level":"INFO","event":"other"}', {})).toBe(false)
})

it('knows which names of --var nothing reads, whatever their case', () => {
  const { vars } = read('--var', 'LOG_LEVEL:DEBUG', '--var', 'LOG_LEVL:DEBUG', '--var', 'auth_mode:required')
  expect(unknownNames(vars)).toEqual(['LOG_LEVL', 'auth_mode'])
})
