// Reads and trusts the hooks of our plugin in Codex, through Codex's own app-server (JSON-RPC, one message per line).
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { VERSION } from '../place.mjs'
import { programOf } from './program.mjs'

const LONGEST_MS = 20_000

/**
 * @template T
 * @param {(ask: (method: string, params: object) => Promise<any>) => Promise<T>} work
 * @returns {Promise<T>}
 * @throws {Error} if Codex is not installed, refuses or does not respond
 */
async function withCodex(work) {
  const file = programOf('codex')
  if (file === null) throw new Error('codex is not on the PATH')
  const child = spawn(file, ['app-server'], {
    cwd: homedir(),
    stdio: ['pipe', 'pipe', 'ignore'],
    shell: file.endsWith('.cmd'),
  })
  const waiting = new Map()
  let [count, rest] = [0, '']
  /** @type {Promise<never>} */
  const gone = new Promise((_, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error('codex app-server exited')))
    setTimeout(() => reject(new Error('codex app-server does not respond')), LONGEST_MS).unref()
  })
  gone.catch(() => {})
  child.stdout.on('data', (piece) => {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter(Boolean)) {
      const message = JSON.parse(line)
      waiting.get(message.id)?.(message)
    }
  })
  const tell = (message) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = async (method, params) => {
    const id = ++count
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    tell({ id, method, params })
    const { result, error } = await Promise.race([answered, gone])
    if (error) throw new Error(`codex ${method}: ${error.message}`)
    return result
  }
  try {
    await ask('initialize', { clientInfo: { name: 'commonplace', version: VERSION } })
    tell({ method: 'initialized' })
    return await work(ask)
  } finally {
    child.kill()
  }
}

/** @typedef {{ key: string, eventName: string, command: string, currentHash: string, trustStatus: string, enabled: boolean }} CodexHook */

/** Returns the hooks of our plugin. @returns {Promise<CodexHook[]>} */
async function ownHooks(ask) {
  const { data } = await ask('hooks/list', { cwds: [homedir()] })
  return data.flatMap(({ hooks }) => hooks).filter(({ pluginId }) => pluginId === 'commonplace@commonplace')
}

export const codexHooks = () => withCodex(ownHooks)

/** Trusts the hooks in their present form, as `/hooks` does. */
export const trustCodexHooks = () =>
  withCodex(async (ask) => {
    const hooks = await ownHooks(ask)
    const value = Object.fromEntries(
      hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash, enabled: true }]),
    )
    if (hooks.length > 0)
      await ask('config/batchWrite', {
        edits: [{ keyPath: 'hooks.state', mergeStrategy: 'upsert', value }],
        reloadUserConfig: true,
      })
    return ownHooks(ask)
  })
