import { deferred } from '../domain/deferred'
import type { Services } from '../services/services'
import type { Transfer } from '../services/transfer/transfer'

/** Services whose code loads when one of their methods is first called. */

/** An object whose members are methods that return promises. */
type Answering<Service> = { readonly [Name in keyof Service]: (...given: never[]) => Promise<unknown> }

/**
 * Returns an object that loads the object behind it with the first call of a method.
 *
 * @example
 * const history = methodsOnDemand(async () => (await import('../adapters/sql/stores/history/history')).createSqlHistory(connection))
 */
export const methodsOnDemand = <Service extends Answering<Service>>(load: () => Promise<Service>): Service =>
  new Proxy({} as Service, {
    get:
      (_, name) =>
      async (...given: never[]) =>
        (await load())[name as keyof Service](...given),
  })

export const codeOnDemand = (compose: () => Promise<Services['code']>): Services['code'] =>
  methodsOnDemand(deferred(compose).load)

export function captureOnDemand(compose: () => Promise<Services['capture']>): Services['capture'] {
  const { load } = deferred(compose)
  return {
    receive: async (...given) => (await load()).receive(...given),
    standing: async (...given) => (await load()).standing(...given),
    erase: async (...given) => (await load()).erase(...given),
    own: methodsOnDemand(async () => (await load()).own),
    review: methodsOnDemand(async () => (await load()).review),
    usage: methodsOnDemand(async () => (await load()).usage),
    sessions: methodsOnDemand(async () => (await load()).sessions),
  }
}

/** @param isBound whether there is a bucket for backups */
export function transferOnDemand(isBound: boolean, compose: () => Promise<Transfer>): Transfer {
  const { load } = deferred(compose)
  return {
    exports: {
      begin: async (...given) => (await load()).exports.begin(...given),
      resume: async (...given) => (await load()).exports.resume(...given),
      async *parts(...given) {
        yield* (await load()).exports.parts(...given)
      },
    },
    imports: async (...given) => (await load()).imports(...given),
    propose: async (...given) => (await load()).propose(...given),
    backups: {
      isBound,
      goOn: async (...given) => (await load()).backups.goOn(...given),
      round: async (...given) => (await load()).backups.round(...given),
      list: async (...given) => (await load()).backups.list(...given),
      open: async (...given) => (await load()).backups.open(...given),
      image: async (...given) => (await load()).backups.image(...given),
    },
    backedUpAt: async () => (await load()).backedUpAt(),
  }
}
