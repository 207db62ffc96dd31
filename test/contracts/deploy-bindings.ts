import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { deploy } from '../../scripts/deploy/command.mjs'
import { readToml } from '../../scripts/deploy/configuration.mjs'
import { runWrangler } from '../../scripts/deploy/wrangler.mjs'
import { WORKER_DIR } from '../support/build'

const SCRIPT = [join(WORKER_DIR, 'index.js'), '--no-bundle']
const unused = () => Promise.reject(new Error('nothing is asked'))
const toml = readToml()
const { production } = toml.env

/**
 * Runs `npm run deploy -- --dry-run`, with the bundle of this run instead of the Worker, which is built elsewhere (`e2e/wrangler-dev`).
 *
 * @returns the bindings that wrangler names, sorted
 */
async function bindings(folder: string, environment: Record<string, string>): Promise<string[]> {
  const said: string[] = []
  const code = await deploy(
    {
      ...{ fetch: unused, sleep: unused, ask: unused, migratePostgres: unused, environment, folder },
      ...{ print: () => {}, now: () => new Date(0) },
      wrangler: async (args, env) => {
        const [command, ...rest] = args as [string, ...string[]]
        const answer = await runWrangler([command, ...SCRIPT, ...rest], env)
        said.push(answer.said)
        return answer
      },
    },
    { 'dry-run': true },
  )
  expect(code).toBe(0)
  return [...said.join('\n').matchAll(/^env\.(\w+(?: \([^)]*\))?)/gm)].map(([, binding]) => binding as string).sort()
}

/** Bindings of a configuration, in wrangler's words. */
const expected = (stores: ReturnType<typeof readToml>): string[] =>
  [
    ...Object.entries(production.vars).map(([name, value]) => `${name} ("${value}")`),
    ...production.durable_objects.bindings.map(
      ({ name, class_name }: Record<string, string>) => `${name} (${class_name})`,
    ),
    ...stores.kv_namespaces.map(({ binding }: Record<string, string>) => binding),
    ...stores.d1_databases.map((one: Record<string, string>) => `${one.binding} (${one.database_name})`),
    ...stores.r2_buckets.map((one: Record<string, string>) => `${one.binding} (${one.bucket_name})`),
    production.ai.binding,
  ].sort()

/**
 * The deployed configuration, as the real wrangler reads it; test/unit/deploy.test.ts simulates the account.
 *
 * @param button also from the button of Cloudflare
 */
export function deployBindings({ button }: { readonly button: boolean }): void {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-deploy-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('gives the real wrangler a configuration with the bindings of [env.production], by npm run deploy', async () => {
    expect(await bindings(folder, {})).toEqual(expected(production))
  })

  if (!button) return

  it('gives it from the button what the top level binds, under its names, with the settings of production', async () => {
    expect(await bindings(folder, { WORKERS_CI: '1' })).toEqual(expected(toml))
    expect(expected(toml)).toContain('AUTH_MODE ("required")')
  })
}
