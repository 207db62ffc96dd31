import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../scripts/ports.mjs'
import { INHERITED } from './serve-process'

const VERDACCIO = '6.10.4'

export interface LocalRegistry {
  /** Variables with which npm uses this registry, with an empty cache. */
  readonly env: Record<string, string>
  stop(): void
}

/**
 * Installs verdaccio and starts it as a registry with our packages, which fetches all others.
 * @param ours name that npm can publish without an account
 * @throws if npm cannot reach its registry
 */
export async function startLocalRegistry(folder: string, ours: string): Promise<LocalRegistry> {
  const [program, storage] = [join(folder, 'verdaccio'), join(folder, 'storage')]
  mkdirSync(program, { recursive: true })
  // One of its plugins refers to a release by a tag that npm mirrors may not have.
  writeFileSync(join(program, 'package.json'), '{"private": true, "overrides": {"node-fetch": "2.7.0"}}')
  execFileSync('npm', ['install', '--no-audit', `verdaccio@${VERDACCIO}`], {
    ...{ cwd: program, stdio: 'pipe', env: INHERITED },
  })
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', env: INHERITED }).trim()
  const port = await freePort()
  const config = join(program, 'config.yaml')
  writeFileSync(
    config,
    `storage: ${storage}
uplinks: { npm: { url: "${upstream}", timeout: 60s, maxage: 60m } }
packages:
  "${ours}": { access: $all, publish: $anonymous $all }
  "**": { access: $all, proxy: npm }
max_body_size: 200mb
log: { type: stderr, level: warn }
`,
  )
  const child = spawn(
    process.execPath,
    [join(program, 'node_modules/verdaccio/bin/verdaccio'), '--config', config, '--listen', `127.0.0.1:${port}`],
    {
      ...{ env: INHERITED, stdio: ['ignore', 'ignore', 'pipe'] },
    },
  )
  let problem = ''
  child.stderr.on('data', (chunk: Buffer) => {
    problem += chunk.toString()
  })
  const url = `http://127.0.0.1:${port}/`
  const answers = () =>
    fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`verdaccio ended: ${problem}`)
    await setTimeout(100)
  }
  const npmrc = join(folder, 'npmrc')
  // npm needs a token to publish; this registry accepts any.
  writeFileSync(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=none\nloglevel=error\n`)
  return {
    env: {
      npm_config_userconfig: npmrc,
      npm_config_registry: url,
      npm_config_cache: join(folder, 'npm-cache'),
    },
    stop: () => {
      child.kill()
      void once(child, 'exit')
    },
  }
}
