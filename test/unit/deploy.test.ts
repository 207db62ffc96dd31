import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { deploy, readOptions } from '../../scripts/deploy/command.mjs'
import { deploymentOf, readToml } from '../../scripts/deploy/configuration.mjs'
import { Blocked } from '../../scripts/deploy/failures.mjs'
import { type Account, createAccount } from '../fakes/cloudflare'

/** `npm run deploy` with a fake of wrangler and of the Worker that it deploys. */
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

interface Deployed {
  /** Tools that were called, and keys that were created. */
  readonly did: string[]
  readonly stored: Map<number, string>
  ready: boolean
  finds: boolean
}

/** A Worker as the check of a deployment uses it: organizations, keys, three tools. */
function createWorker(): Deployed & { fetch: typeof fetch } {
  const keys: { id: string; name: string; role: string; revoked_at: string | null }[] = []
  const orgs: { id: string }[] = []
  const worker: Deployed = { did: [], stored: new Map(), ready: true, finds: true }
  const answer = (body: unknown, status = 200) => Response.json(body, { status })
  const tool = (name: string, args: { text?: string }) => {
    worker.did.push(name)
    if (name === 'store_context') {
      worker.stored.set(7, args.text ?? '')
      return { context_id: 7 }
    }
    if (name === 'delete_context') worker.stored.delete(7)
    return { results: worker.finds ? [...worker.stored.keys()].map((id) => ({ id })) : [] }
  }
  const ask = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(String(input))
    const body = init.body === undefined ? null : JSON.parse(String(init.body))
    if (pathname === '/ready')
      return worker.ready
        ? answer({ status: 'ready', checks: { images: { ok: true } } })
        : answer({ checks: { database: { ok: false, problem: 'it is behind' } } }, 503)
    if (pathname === '/mcp')
      return answer({ result: { structuredContent: tool(body.params.name, body.params.arguments) } })
    if (pathname === '/api/v1/orgs' && init.method === 'GET') return answer({ orgs })
    if (pathname === '/api/v1/orgs') {
      orgs.push({ id: body.id })
      return answer(body)
    }
    if (init.method === 'GET') return answer({ keys })
    if (init.method === 'DELETE') {
      const key = keys.find(({ id }) => pathname.endsWith(id))
      if (key) key.revoked_at = 'now'
      return answer({})
    }
    const key = { id: `key_${keys.length}`, name: body.name, role: body.role, revoked_at: null }
    keys.push(key)
    worker.did.push(`key ${body.name}`)
    return answer({ ...key, key: `cp_secret_${keys.length}` })
  }
  return Object.assign(worker, { fetch: ask as typeof fetch })
}

function world(account: Account = {}, environment: Record<string, string | undefined> = {}, vars: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-deploy-test-'))
  folders.push(folder)
  const printed: string[] = []
  const cloudflare = createAccount(account, (file) => readFileSync(file, 'utf8'), writeFileSync)
  const worker = createWorker()
  const migrated: string[] = []
  const toml = readToml()
  Object.assign(toml.env.production.vars, vars)
  let typed = ''
  const run = (...args: string[]) =>
    deploy(
      {
        wrangler: cloudflare.wrangler,
        fetch: worker.fetch,
        sleep: async () => {},
        ask: async () => typed,
        migratePostgres: async (url) => void migrated.push(url),
        print: (line) => void printed.push(line),
        now: () => new Date(0),
        ...{ environment, folder, toml },
      },
      readOptions(args),
    )
  return {
    ...{ cloudflare, worker, printed, folder, run, migrated, toml },
    types: (name: string) => {
      typed = name
    },
    said: () => printed.join('\n'),
    blocked: (...args: string[]) =>
      run(...args).then(
        () => 'not blocked',
        (error: unknown) => (error instanceof Blocked ? error.message : Promise.reject(error)),
      ),
  }
}

const NAME = 'commonplace-production'

describe('npm run deploy', () => {
  it('makes what is missing, applies migrations before the code, sets a token, proves itself and prints the first key once', async () => {
    const { cloudflare, worker, run, said, folder } = world()
    expect(await run()).toBe(0)
    const order = cloudflare.commands
      .filter((line) => /migrations apply|^deploy/.test(line))
      .map((line) => line.split(' ')[0])
    expect(order).toEqual(['d1', 'deploy'])
    const { config, secrets } = cloudflare.held.workers.get(NAME) ?? {}
    expect([...(secrets ?? [])]).toEqual(['ADMIN_TOKEN'])
    expect(config).toMatchObject({ account_id: 'a1', vars: { AUTH_MODE: 'required', EMBEDDING_FAILURE: 'defer' } })
    expect(config?.d1_databases).toMatchObject([
      { binding: 'DB', database_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ])
    expect(worker.did).toEqual([
      'key deployment-proof',
      'store_context',
      'fts_search_context',
      'delete_context',
      'key first admin',
    ])
    expect(worker.stored.size).toBe(0)
    expect(said()).toContain('https://commonplace-production.team.workers.dev/mcp')
    expect(said()).toContain('cp_secret_2')
    expect(said()).toContain('claude mcp add')
    // The token is only in a file of this user, and not in any argument.
    const token = readFileSync(join(folder, `${NAME}.token`), 'utf8').trim()
    expect(statSync(join(folder, `${NAME}.token`)).mode & 0o077).toBe(0)
    expect(said() + cloudflare.commands.join('\n')).not.toContain(token)
  })

  it('may be run again: it makes nothing twice, keeps the token and shows no key', async () => {
    const { cloudflare, run, printed, said } = world()
    await run()
    const before = structuredClone([...cloudflare.held.databases, ...cloudflare.held.namespaces])
    printed.length = 0
    expect(await run()).toBe(0)
    expect([...cloudflare.held.databases, ...cloudflare.held.namespaces]).toEqual(before)
    expect(cloudflare.commands.filter((line) => line.includes('--secrets-file'))).toHaveLength(1)
    expect(said()).toContain('D1 commonplace-production is there')
    expect(said()).not.toContain('cp_secret')
  })

  it('continues where it was interrupted', async () => {
    const { cloudflare, run, blocked } = world({ fails: { deploy: 'fetch failed' } })
    expect(await blocked()).toContain('completed steps are skipped')
    cloudflare.fail({})
    expect(await run()).toBe(0)
    expect(cloudflare.commands.filter((line) => line.startsWith('d1 create'))).toHaveLength(1)
    expect([...(cloudflare.held.workers.get(NAME)?.secrets ?? [])]).toEqual(['ADMIN_TOKEN'])
  })

  it.each<[string, Account, readonly string[], RegExp]>([
    ['the login is missing', { loggedIn: false }, [], /not logged in.*npx wrangler login/],
    [
      'there are several accounts',
      {
        accounts: [
          { id: 'a1', name: 'One' },
          { id: 'a2', name: 'Two' },
        ],
      },
      [],
      /several accounts.*--account[\s\S]*a2 {2}Two/,
    ],
    ['an account is not seen', {}, ['--account', 'a9'], /does not see the account a9/],
    [
      'the token has no right',
      { fails: { 'd1 create': 'Authentication error [code: 10000]' } },
      [],
      /may not make the D1 database.*D1: Edit/,
    ],
    [
      'a quota is used up',
      { fails: { 'd1 create': "You've reached the maximum number of databases [code: 7406]" } },
      [],
      /limit of its plan/,
    ],
    ['the name is in use', { foreignWorker: NAME }, [], /was not deployed from here.*--name/],
    [
      'there is no workers.dev name', // prose-ignore: the words of wrangler
      { fails: { deploy: 'You need a workers.dev subdomain [code: 10063]' } },
      [],
      /no workers\.dev subdomain/,
    ],
    [
      'the network is away',
      { fails: { 'd1 list': 'getaddrinfo ENOTFOUND api.cloudflare.com' } },
      [],
      /could not be reached/,
    ],
    [
      'something unknown happens',
      { fails: { 'kv namespace create': 'It is Monday [code: 99999]' } },
      [],
      /Could not make the KV[\s\S]*It is Monday/,
    ],
    ['an option is wrong', {}, ['--nmae', 'x'], /usage: npm run deploy/],
  ])('prints a remedy when %s', async (_, account, args, message) => {
    const { run } = world(account)
    const error = await Promise.resolve()
      .then(() => run(...args))
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(Blocked)
    expect((error as Error).message).toMatch(message)
  })

  it('deploys everything but images where the account has no R2', async () => {
    const { cloudflare, run, said } = world({ r2: false })
    expect(await run()).toBe(0)
    expect(cloudflare.held.workers.get(NAME)?.config).not.toHaveProperty('r2_buckets')
    expect(said()).toContain('everything works but images')
  })

  it('reports why a Worker is not ready, and that an entry was not found', async () => {
    const { worker, blocked } = world()
    worker.ready = false
    expect(await blocked()).toContain('not ready: database: it is behind')
    worker.ready = true
    worker.finds = false
    expect(await blocked()).toBe('An entry was stored but not found by its words.')
    expect(worker.stored.size).toBe(0)
  })

  it('keeps everything in PostgreSQL with --postgres, migrated first and without a cache', async () => {
    const { cloudflare, run, migrated } = world()
    expect(await run('--postgres', 'postgresql://u:p@db.example.com/d')).toBe(0)
    expect(migrated).toEqual(['postgresql://u:p@db.example.com/d'])
    expect(cloudflare.commands.find((line) => line.startsWith('hyperdrive create'))).toContain(
      '--caching-disabled true',
    )
    const { config } = cloudflare.held.workers.get(NAME) ?? {}
    expect(config).toMatchObject({ vars: { STORAGE_BACKEND: 'postgresql' }, hyperdrive: [{ binding: 'HYPERDRIVE' }] })
    expect(config).not.toHaveProperty('d1_databases')
    expect(cloudflare.held.databases.size).toBe(0)
  })

  it('refuses an invalid PostgreSQL URL before any check, also with --dry-run, and does not print it', () => {
    for (const url of ['', 'db.example.com', 'https://u:secret@db.example.com/d', 'postgresql://u:secret@/d']) {
      const read = () => readOptions(['--dry-run', '--postgres', url])
      expect(read).toThrow(url === '' ? /^No database is named/ : /^This is not a PostgreSQL URL/)
      expect(read).not.toThrow(/secret/)
    }
  })

  it('makes a Vectorize index of the size that the model has, once, and reports an existing one of another size', async () => {
    const { cloudflare, run, said, blocked } = world({}, {}, { VECTOR_BACKEND: 'vectorize' })
    expect(await run()).toBe(0)
    expect([...cloudflare.held.indexes]).toEqual([[NAME, 1024]])
    expect(cloudflare.held.workers.get(NAME)?.config).toMatchObject({
      vectorize: [{ binding: 'VECTORIZE', index_name: NAME }],
    })
    expect(await run()).toBe(0)
    expect(said()).toContain(`Vectorize ${NAME} is there`)
    cloudflare.held.indexes.set(NAME, 768)
    expect(await blocked()).toMatch(/has 768 dimensions but the model has 1024.*vectorize delete/)
  })

  it('makes a bucket of backups of its own where one is bound, and leaves it when the rest is removed', async () => {
    const { cloudflare, run, types, said, toml } = world()
    toml.env.production.r2_buckets.push({ binding: 'BACKUP_BUCKET', bucket_name: `${NAME}-backups` })
    expect(await run('--name', 'another')).toBe(0)
    expect([...cloudflare.held.buckets]).toEqual(['another-images', 'another-backups'])
    expect(cloudflare.held.workers.get('another')?.config).toMatchObject({
      r2_buckets: [
        { binding: 'IMAGES', bucket_name: 'another-images' },
        { binding: 'BACKUP_BUCKET', bucket_name: 'another-backups' },
      ],
    })
    expect(await run('--name', 'another')).toBe(0)
    types('another')
    expect(await run('--name', 'another', '--destroy')).toBe(0)
    expect([...cloudflare.held.buckets]).toEqual(['another-backups'])
    expect(said()).toContain('R2 another-backups is not removed')
  })

  it('needs no account for --dry-run, and shows every step', async () => {
    const { cloudflare, run, said } = world({ loggedIn: false })
    expect(await run('--dry-run')).toBe(0)
    expect(cloudflare.commands).toEqual([expect.stringMatching(/^deploy --dry-run --config /)])
    for (const step of ['account', 'database', 'grants', 'images', 'schema', 'token', 'worker', 'ready', 'proof'])
      expect(said()).toMatch(new RegExp(`^ {2}${step} `, 'm'))
  })

  it('shows with --dry-run and --destroy what would be removed, without a prompt', async () => {
    const { cloudflare, run, said } = world({ loggedIn: false })
    expect(await run('--dry-run', '--destroy')).toBe(0)
    expect(cloudflare.commands).toEqual([])
    expect(said()).not.toMatch(/make |A deployment would/)
    for (const step of ['worker', 'database', 'grants', 'vectors', 'hyperdrive', 'images'])
      expect(said()).toMatch(new RegExp(`^ {2}${step} +.*${NAME}`, 'm'))
  })

  it('removes with --destroy what it made, after the name has been typed, and no more than that', async () => {
    const { cloudflare, run, types, blocked } = world()
    await run()
    await run('--name', 'another')
    types('yes')
    expect(await blocked('--destroy')).toContain('Nothing was removed')
    types(NAME)
    expect(await run('--destroy')).toBe(0)
    expect([...cloudflare.held.workers.keys()]).toEqual(['another'])
    expect([...cloudflare.held.databases]).toEqual(['another'])
    expect([...cloudflare.held.namespaces]).toEqual(['another-grants'])
    expect([...cloudflare.held.buckets]).toEqual(['another-images'])
    expect(await run('--destroy')).toBe(0)
  })

  it('deploys from the button what Cloudflare has bound at the top level, under the chosen names', async () => {
    const { cloudflare, run } = world({}, { WORKERS_CI: '1', CLOUDFLARE_ACCOUNT_ID: 'a1' })
    expect(await run()).toBe(0)
    expect([...cloudflare.held.workers.keys()]).toEqual(['commonplace'])
    expect(cloudflare.commands.some((line) => /create|migrations/.test(line))).toBe(false)
    expect(cloudflare.held.workers.get('commonplace')?.config).toMatchObject({
      vars: { AUTH_MODE: 'required' },
      ai: { binding: 'AI' },
    })
  })
})

describe('the deployed configuration', () => {
  const bindingsOf = (config: Record<string, { binding: string }[]>) =>
    ['d1_databases', 'kv_namespaces', 'r2_buckets'].flatMap((list) =>
      (config[list] ?? []).map(({ binding }) => binding),
    )

  it('binds the same from the button, by npm run deploy and at the top level', () => {
    const toml = readToml()
    const [pushed, button] = [false, true].map((fromButton) => deploymentOf(toml, {}, { fromButton }))
    expect(bindingsOf(pushed as never)).toEqual(bindingsOf(button as never))
    expect(bindingsOf(button as never)).toEqual(bindingsOf(toml as never))
    for (const name of ['durable_objects', 'ai', 'triggers', 'vars', 'migrations', 'main'])
      expect([name, button?.[name]]).toEqual([name, pushed?.[name]])
    expect(JSON.stringify(button)).not.toContain('open')
  })
})
