/** Simulates the answers of `wrangler` for an account, in the words of wrangler 4.155 and of Cloudflare's API. It runs nothing. */
export interface Account {
  readonly loggedIn?: boolean
  readonly accounts?: readonly { readonly id: string; readonly name: string }[]
  readonly r2?: boolean
  /** A Worker of our name that another person deployed. */
  readonly foreignWorker?: string
  /** Errors of commands, by their first words: `d1 create`. */
  readonly fails?: Readonly<Record<string, string>>
}

interface Held {
  readonly databases: Set<string>
  readonly namespaces: Set<string>
  readonly buckets: Set<string>
  readonly indexes: Map<string, number>
  readonly drives: Set<string>
  readonly workers: Map<string, { secrets: Set<string>; config: Record<string, unknown> }>
}

const failed = (message: string) => ({ code: 1, out: '', said: `\n✘ [ERROR] ${message}\n` })
const api = (path: string, message: string, code: number) =>
  failed(`A request to the Cloudflare API (/accounts/a1${path}) failed.\n\n  ${message} [code: ${code}]`)
const said = (out: string) => ({ code: 0, out, said: out })

/** An id as Cloudflare makes them, the same for the same name. */
const idOf = (name: string): string =>
  [...name]
    .reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) >>> 0, 7)
    .toString(16)
    .padStart(32, '0')

/** @param read what a file holds, by its path */
export function createAccount(
  given: Account,
  read: (file: string) => string,
  report: (file: string, text: string) => void,
) {
  const { accounts = [{ id: 'a1', name: 'Team' }], loggedIn = true, r2 = true } = given
  const held: Held = {
    ...{ databases: new Set(), namespaces: new Set(), buckets: new Set(), drives: new Set() },
    ...{ indexes: new Map(), workers: new Map() },
  }
  if (given.foreignWorker) held.workers.set(given.foreignWorker, { secrets: new Set(), config: {} })
  const commands: string[] = []
  let fails: Readonly<Record<string, string>> = given.fails ?? {}

  /** The value of an option. */
  const option = (args: readonly string[], name: string): string => args[args.indexOf(name) + 1] ?? ''

  function deployed(args: readonly string[], env: Readonly<Record<string, string>>) {
    const config = JSON.parse(read(option(args, '--config')))
    const before = held.workers.get(config.name)
    const secrets = before?.secrets ?? new Set()
    if (args.includes('--secrets-file'))
      for (const name of Object.keys(JSON.parse(read(option(args, '--secrets-file'))))) secrets.add(name)
    held.workers.set(config.name, { secrets, config })
    const target = `${config.name}.team.workers.dev`
    if (env.WRANGLER_OUTPUT_FILE_PATH)
      report(env.WRANGLER_OUTPUT_FILE_PATH, `${JSON.stringify({ type: 'deploy', targets: [`https://${target}`] })}\n`)
    return said(`Uploaded ${config.name}\nDeployed ${config.name} triggers\n  https://${target}\n`)
  }

  function created(set: Set<string>, name: string, path: string, code: number, message: string) {
    if (set.has(name)) return api(path, message, code)
    set.add(name)
    return said(`✅ Successfully created '${name}'\n`)
  }

  function removed(set: { delete(name: string): boolean }, name: string) {
    return set.delete(name) ? said(`Deleted ${name}\n`) : failed(`Couldn't find '${name}'`)
  }

  async function wrangler(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const line = args.join(' ')
    commands.push(line)
    const known = Object.keys(fails).find((command) => line.startsWith(command))
    if (known !== undefined) return failed(fails[known] ?? '')
    if (line === 'whoami --json')
      return loggedIn ? said(JSON.stringify({ loggedIn, accounts })) : { ...said('{"loggedIn":false}'), code: 1 }
    const [first, second, third = '', fourth = ''] = args
    switch (`${first} ${second}`) {
      case 'secret list': {
        const worker = held.workers.get(option(args, '--name'))
        if (worker === undefined) return api('/workers/scripts', 'This Worker does not exist on your account.', 10007)
        return said(JSON.stringify([...worker.secrets].map((name) => ({ name, type: 'secret_text' }))))
      }
      case 'd1 list':
        return said(JSON.stringify([...held.databases].map((name) => ({ uuid: idOf(name), name }))))
      case 'd1 info':
        return held.databases.has(third) ? said('{}') : failed(`Couldn't find DB with name '${third}'`)
      case 'd1 create':
        return created(held.databases, third, '/d1/database', 7502, 'A database with that name already exists')
      case 'd1 migrations':
        return held.databases.has(fourth)
          ? said('✅ No migrations to apply!\n')
          : failed(`Couldn't find a D1 DB '${fourth}'`)
      case 'd1 delete':
        return removed(held.databases, third)
      case 'kv namespace':
        if (third === 'list')
          return said(JSON.stringify([...held.namespaces].map((title) => ({ id: idOf(title), title }))))
        if (third === 'delete')
          return removed(held.namespaces, [...held.namespaces].find((n) => idOf(n) === args.at(-1)) ?? '')
        return created(held.namespaces, fourth, '/storage/kv', 10014, 'a namespace with this title already exists')
      case 'r2 bucket':
        if (!r2) return api('/r2/buckets', 'Please enable R2 through the Cloudflare Dashboard.', 10042)
        if (third === 'delete') return removed(held.buckets, fourth)
        return created(
          held.buckets,
          fourth,
          '/r2/buckets',
          10004,
          'The bucket you tried to create already exists, and you own it.',
        )
      case 'hyperdrive list':
        return said([...held.drives].map((name) => `│ ${idOf(name)} │ ${name} │ db.example.com │`).join('\n'))
      case 'hyperdrive create':
        held.drives.add(third)
        return said(`✅ Created new Hyperdrive PostgreSQL config: ${idOf(third)}\n`)
      case 'hyperdrive update':
        return said('Updated\n')
      case 'hyperdrive delete':
        return removed(held.drives, [...held.drives].find((name) => idOf(name) === third) ?? '')
      case 'vectorize create':
        if (held.indexes.has(third)) return api('/vectorize/v2/indexes', 'vectorize.index.duplicate_name', 3002)
        held.indexes.set(third, Number(args.find((arg) => arg.startsWith('--dimensions='))?.split('=')[1]))
        return said(`✅ Successfully created a new Vectorize index: '${third}'\n`)
      case 'vectorize list':
        return said(JSON.stringify([...held.indexes].map(([name, dimensions]) => ({ name, config: { dimensions } }))))
      case 'vectorize delete':
        return removed(held.indexes, third)
    }
    if (first === 'deploy') return args.includes('--dry-run') ? said('--dry-run: exiting now.\n') : deployed(args, env)
    if (first === 'delete') return removed(held.workers, option(args, '--name'))
    throw new Error(`The stand-in does not know: wrangler ${line}`)
  }

  return {
    ...{ wrangler, held, commands },
    fail: (next: Readonly<Record<string, string>>) => {
      fails = next
    },
  }
}
