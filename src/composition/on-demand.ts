import { type Deferred, deferred } from '../domain/deferred'
import type { Services } from '../services/services'
import type { Transfer } from '../services/transfer/transfer'

/** Services whose code loads when one of their methods is first called. */

/** Modules of the upload (scripts/build.mjs), each loaded once in an isolate. */
export const modules = {
  accessGate: deferred(() => import('../adapters/sign-in/access-gate')),
  openidProvider: deferred(() => import('../adapters/sign-in/openid-provider')),
  memoryPairs: deferred(() => import('../adapters/sql/stores/currency/memory-pairs')),
  changeFeed: deferred(() => import('../adapters/sql/stores/history/change-feed')),
  history: deferred(() => import('../adapters/sql/stores/history/history')),
  directory: deferred(() => import('../adapters/sql/stores/identity/directory')),
  retention: deferred(() => import('../adapters/sql/stores/maintenance/retention')),
  storeOverview: deferred(() => import('../adapters/sql/stores/overview/store-overview')),
  entryTexts: deferred(() => import('../adapters/sql/stores/texts/entry-texts')),
  costs: deferred(() => import('../services/people/cost')),
  projects: deferred(() => import('../services/people/projects')),
  stalePairs: deferred(() => import('../services/stale/stale-pairs')),
  restoreEntries: deferred(() => import('../services/writing/entries/restore-entries')),
  summarize: deferred(() => import('../services/writing/memories/summarize')),
  reportEvent: deferred(async () => {
    const [event, similar] = await Promise.all([
      import('../services/writing/events/report-event'),
      import('../services/writing/events/similar-memories'),
    ])
    return { ...event, ...similar }
  }),
  capture: deferred(() => import('./capture')),
  code: deferred(() => import('./code')),
  packs: deferred(() => import('./packs')),
  transfer: deferred(() => import('./transfer')),
  departure: deferred(async () => {
    const [departure, people] = await Promise.all([
      import('../services/people/departure'),
      import('../adapters/sql/stores/identity/people-store'),
    ])
    return { ...departure, ...people }
  }),
}

/**
 * Returns a function that runs work with a service, which is composed once. If its module is loaded, the work starts at once, so that reads
 * of the same moment still share a round trip.
 */
function opening<Module, Service>(module: Deferred<Module>, compose: (module: Module) => Service) {
  let service: { readonly made: Service } | undefined
  const made = (loaded: Module): Service => {
    service ??= { made: compose(loaded) }
    return service.made
  }
  return <Result>(run: (service: Service) => Result): Result | Promise<Awaited<Result>> => {
    const loaded = module.peek()
    if (loaded !== undefined) return run(made(loaded))
    return module.load().then((now) => run(made(now))) as Promise<Awaited<Result>>
  }
}

/** An object whose members are methods that return promises. */
type Answering<Service> = { readonly [Name in keyof Service]: (...given: never[]) => Promise<unknown> }

/** Returns an object whose methods run those of the service. */
const methodsOf = <Service extends Answering<Service>>(
  use: (run: (service: Service) => Promise<unknown>) => Promise<unknown>,
): Service =>
  new Proxy({} as Service, {
    get:
      (_, name) =>
      (...given: never[]) =>
        use((service) => service[name as keyof Service](...given)),
  })

/**
 * Returns an object that loads the module behind it with the first call of a method.
 *
 * @example
 * const history = methodsOnDemand(modules.history, ({ createSqlHistory }) => createSqlHistory(connection, analyzer, clock))
 */
export const methodsOnDemand = <Module, Service extends Answering<Service>>(
  module: Deferred<Module>,
  compose: (module: Module) => Service,
): Service => methodsOf<Service>(opening(module, compose))

export function captureOnDemand<Module>(
  module: Deferred<Module>,
  compose: (module: Module) => Services['capture'],
): Services['capture'] {
  const use = opening(module, compose)
  return {
    receive: async (...given) => use(({ receive }) => receive(...given)),
    standing: async (...given) => use(({ standing }) => standing(...given)),
    erase: async (...given) => use(({ erase }) => erase(...given)),
    own: methodsOf(async (run) => use(({ own }) => run(own))),
    review: methodsOf(async (run) => use(({ review }) => run(review))),
    usage: methodsOf(async (run) => use(({ usage }) => run(usage))),
    sessions: methodsOf(async (run) => use(({ sessions }) => run(sessions))),
  }
}

/** @param isBound whether there is a bucket for backups */
export function transferOnDemand<Module>(
  isBound: boolean,
  module: Deferred<Module>,
  compose: (module: Module) => Transfer,
): Transfer {
  const use = opening(module, compose)
  return {
    exports: {
      begin: async (...given) => use(({ exports }) => exports.begin(...given)),
      resume: async (...given) => use(({ exports }) => exports.resume(...given)),
      async *parts(...given) {
        yield* await use(({ exports }) => exports.parts(...given))
      },
    },
    imports: async (...given) => use(({ imports }) => imports(...given)),
    propose: async (...given) => use(({ propose }) => propose(...given)),
    backups: {
      isBound,
      goOn: async (...given) => use(({ backups }) => backups.goOn(...given)),
      round: async (...given) => use(({ backups }) => backups.round(...given)),
      list: async (...given) => use(({ backups }) => backups.list(...given)),
      stored: async (...given) => use(({ backups }) => backups.stored(...given)),
      lastDrill: async (...given) => use(({ backups }) => backups.lastDrill(...given)),
      noteDrill: async (...given) => use(({ backups }) => backups.noteDrill(...given)),
      open: async (...given) => use(({ backups }) => backups.open(...given)),
      image: async (...given) => use(({ backups }) => backups.image(...given)),
    },
    backupRun: async () => use((transfer) => transfer.backupRun()),
  }
}
