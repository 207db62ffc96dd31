// Several servers in one workerd: to start one that loads the product anew is a second of work and more, a place in one that has it a
// quarter of that. Each place has an address, variables and stores of its own, and of what the product remembers nothing is another's,
// since it remembers by environment and by database.
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { handedOver, type OpenedServer } from './server'

/** In one workerd; where they are taken, a further one is started. */
const PLACES = Array.from({ length: 24 }, (_, place) => place)

/** What the product finds in its environment beside variables, by what it is bound to. */
const STORES = { d1Databases: 'DB', kvNamespaces: 'OAUTH_KV', r2Buckets: 'IMAGES' }
const OBJECTS = { VECTORS: 'VectorObject', GATES: 'GateObject', FEEDS: 'FeedObject' }
const BOUND = [...Object.values(STORES), ...Object.keys(OBJECTS)]

/** Told what a place is configured with, or to run its schedule, at the address of the workerd itself. */
const ENTRY = `import { WorkerEntrypoint } from 'cloudflare:workers'
import worker, * as product from './index.js'
const places = []
export default {
  async fetch(request, env, ctx) {
    const { place, vars } = await request.json()
    if (vars === undefined) await worker.scheduled({ cron: '*/5 * * * *' }, places[place], ctx)
    else places[place] = { ...Object.fromEntries(${JSON.stringify(BOUND)}.map((name) => [name, env[name + place]])), ...vars }
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
  const stores = Object.entries(STORES).map(([kind, name]) => [
    kind,
    named([name], (_, place) => `${name.toLowerCase()}-${place}`),
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

/** That of this process whose places are not all taken; it ends with the process. */
let current: { readonly workerd: Miniflare; taken: number } | null = null

function take(): { workerd: Miniflare; place: number } {
  if (current === null || current.taken === PLACES.length) current = { workerd: startWorkerd(), taken: 0 }
  return { workerd: current.workerd, place: current.taken++ }
}

/**
 * What `startServer` starts, on D1, for tests that neither kill it nor read its log. Nobody asks it any more once it has been stopped, but
 * it would still answer.
 */
export async function startPlace(vars: Record<string, string> = {}): Promise<Omit<OpenedServer, 'backups' | 'grants'>> {
  const { workerd, place } = take()
  const tell = async (what: object): Promise<void> => {
    const { status } = await workerd.dispatchFetch('http://places/', { method: 'POST', body: JSON.stringify(what) })
    if (status !== 200) throw new Error(`A place in workerd answered ${status}`)
  }
  await tell({ place, vars: { AUTH_MODE: 'open', LOG_LEVEL: 'WARNING', ...vars } })
  return {
    url: new URL('/mcp', await workerd.unsafeGetDirectURL(undefined, `Place${place}`)),
    sql: async (statement) => (await workerd.getD1Database(`DB${place}`)).prepare(statement).run(),
    schedule: () => tell({ place }),
    stop: async () => {},
  }
}
