// Several servers in one workerd, because starting a workerd with the product takes four times as long as adding a
// place to it. Each place has its own address, variables and stores; the product caches only by environment and
// database.
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { everythingIn, handedOver, type OpenedServer } from './server'

export interface PlacedServer extends OpenedServer {
  /** The bucket of backups. */
  backups(): ReturnType<Miniflare['getR2Bucket']>
}

/** Bindings that a place has or lacks in addition to variables. */
export interface Furnishing {
  /** URL of a PostgreSQL database, instead of D1. */
  readonly hyperdrive?: string
  /** True: with a bucket for backups. */
  readonly backups?: boolean
  /** False: a deployment without a Durable Object of vectors, where pgvector alone compares. */
  readonly vectors?: boolean
  /** False: a deployment without R2. */
  readonly images?: boolean
  /**
   * True: in a workerd of its own, because the database fails, and the product counts failures of all databases of an
   * isolate.
   */
  readonly fails?: boolean
}

/** Places of one workerd; if all are in use, another workerd starts. */
const PLACES = Array.from({ length: 24 }, (_, place) => place)

/** Bindings of the product's environment in addition to variables, by type. */
const STORES = { d1Databases: ['DB'], kvNamespaces: ['OAUTH_KV'], r2Buckets: ['IMAGES', 'BACKUP_BUCKET'] }
const OBJECTS = { VECTORS: 'VectorObject', GATES: 'GateObject', FEEDS: 'FeedObject' }

/** Receives the configuration of a place, or the request to run its schedule, at the address of the workerd itself. */
const ENTRY = `import { WorkerEntrypoint } from 'cloudflare:workers'
import worker, * as product from './index.js'
const places = []
export default {
  async fetch(request, env, ctx) {
    const { place, bound, vars } = await request.json()
    if (vars === undefined) await worker.scheduled({ cron: '*/5 * * * *' }, places[place], ctx)
    else places[place] = { ...Object.fromEntries(bound.map((name) => [name, env[name + place]])), ...vars }
    return new Response()
  },
}
${PLACES.map(
  (place) => `export class Place${place} extends WorkerEntrypoint {
  fetch(request) {
    return worker.fetch(request, places[${place}], this.ctx)
  }
}
${Object.values(OBJECTS)
  .map(
    (name) => `export class ${name}${place} extends product.${name} {
  constructor(ctx) {
    super(ctx, places[${place}])
  }
}`,
  )
  .join('\n')}`,
).join('\n')}`

const named = <Value>(names: readonly string[], value: (name: string, place: number) => Value) =>
  Object.fromEntries(names.flatMap((name) => PLACES.map((place) => [`${name}${place}`, value(name, place)])))

function startWorkerd(): Miniflare {
  const stores = Object.entries(STORES).map(([kind, names]) => [
    kind,
    named(names, (name, place) => `${name.toLowerCase()}-${place}`),
  ])
  return new Miniflare(
    convertV4MiniflareOptions({
      ...handedOver(ENTRY),
      ...Object.fromEntries(stores),
      durableObjects: named(Object.keys(OBJECTS), (name, place) => ({
        className: `${OBJECTS[name as keyof typeof OBJECTS]}${place}`,
        useSQLite: true,
      })),
      unsafeDirectSockets: PLACES.map((place) => ({ host: '127.0.0.1', port: 0, entrypoint: `Place${place}` })),
    }),
  )
}

/** Workerds of this process with free places, separate where databases fail. They end with the process. */
const current = new Map<boolean, { readonly workerd: Miniflare; taken: number }>()

function take(fails: boolean): { workerd: Miniflare; place: number } {
  const known = current.get(fails)
  const open = known === undefined || known.taken === PLACES.length ? { workerd: startWorkerd(), taken: 0 } : known
  current.set(fails, open)
  return { workerd: open.workerd, place: open.taken++ }
}

/** The names of bindings in an environment. */
function boundOf({ hyperdrive, backups = false, vectors = true, images = true }: Furnishing): string[] {
  const lacking = [
    ...(hyperdrive === undefined ? [] : ['DB']),
    ...(backups ? [] : ['BACKUP_BUCKET']),
    ...(vectors ? [] : ['VECTORS']),
    ...(images ? [] : ['IMAGES']),
  ]
  return [...Object.values(STORES).flat(), ...Object.keys(OBJECTS)].filter((name) => !lacking.includes(name))
}

/**
 * A server like that of `startServer`, for tests that neither kill it nor read its log. A stopped one is not used
 * again, although it would answer.
 */
export async function startPlace(
  vars: Record<string, string> = {},
  furnishing: Furnishing = {},
): Promise<PlacedServer> {
  const { hyperdrive, fails = false } = furnishing
  const { workerd, place } = take(fails)
  const tell = async (what: object): Promise<void> => {
    const { status } = await workerd.dispatchFetch('http://places/', { method: 'POST', body: JSON.stringify(what) })
    if (status !== 200) throw new Error(`A place in workerd answered ${status}`)
  }
  const database =
    hyperdrive === undefined ? {} : { STORAGE_BACKEND: 'postgresql', HYPERDRIVE: { connectionString: hyperdrive } }
  const all = { AUTH_MODE: 'open', LOG_LEVEL: 'WARNING', ...database, ...vars }
  await tell({ place, bound: boundOf(furnishing), vars: all })
  return {
    url: new URL('/mcp', await workerd.unsafeGetDirectURL(undefined, `Place${place}`)),
    sql: async (statement) => (await workerd.getD1Database(`DB${place}`)).prepare(statement).run(),
    grants: async () => everythingIn(await workerd.getKVNamespace(`OAUTH_KV${place}`)),
    backups: () => workerd.getR2Bucket(`BACKUP_BUCKET${place}`),
    schedule: () => tell({ place }),
    stop: async () => {},
  }
}
