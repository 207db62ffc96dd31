import { deferred } from '../domain/deferred'
import type { Services } from '../services/services'
import type { Transfer } from '../services/transfer/transfer'

/** Services whose code loads when one of their methods is first called. */

type Methods = Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>

/**
 * Returns an object that loads the object behind it with the first call of a method. All methods return promises.
 *
 * @param known members that are no methods
 */
const methodsOnDemand = <Service extends object>(load: () => Promise<Service>, known: Partial<Service> = {}): Service =>
  new Proxy(known as Service, {
    get: (members, name) =>
      Reflect.get(members, name) ??
      (async (...given: unknown[]) => ((await load()) as Methods)[String(name)]?.(...given)),
  })

export const codeOnDemand = (compose: () => Promise<Services['code']>): Services['code'] =>
  methodsOnDemand(deferred(compose).load)

export function captureOnDemand(compose: () => Promise<Services['capture']>): Services['capture'] {
  const { load } = deferred(compose)
  const part = <Name extends 'own' | 'review' | 'usage' | 'sessions'>(name: Name) =>
    methodsOnDemand(async () => (await load())[name])
  return {
    receive: async (...given) => (await load()).receive(...given),
    standing: async (...given) => (await load()).standing(...given),
    erase: async (...given) => (await load()).erase(...given),
    ...{ own: part('own'), review: part('review'), usage: part('usage'), sessions: part('sessions') },
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
    backups: methodsOnDemand(async () => (await load()).backups, { isBound }),
    backedUpAt: async () => (await load()).backedUpAt(),
  }
}
