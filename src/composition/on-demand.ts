import type { Services } from '../services/services'
import type { Transfer } from '../services/transfer/transfer'

/** Services whose code loads when one of their methods is first called. */

/** @param isBound whether there is a bucket for backups */
export const transferOnDemand = (isBound: boolean, load: () => Promise<Transfer>): Transfer => ({
  exports: {
    begin: async (...given) => (await load()).exports.begin(...given),
    resume: async (...given) => (await load()).exports.resume(...given),
    async *parts(...given) {
      yield* (await load()).exports.parts(...given)
    },
  },
  imports: async (...given) => (await load()).imports(...given),
  backups: {
    isBound,
    goOn: async (...given) => (await load()).backups.goOn(...given),
    round: async (...given) => (await load()).backups.round(...given),
    list: async (...given) => (await load()).backups.list(...given),
    open: async (...given) => (await load()).backups.open(...given),
    image: async (...given) => (await load()).backups.image(...given),
  },
  backedUpAt: async () => (await load()).backedUpAt(),
})

export const codeOnDemand = (load: () => Promise<Services['code']>): Services['code'] => ({
  status: async (...given) => (await load()).status(...given),
  put: async (...given) => (await load()).put(...given),
  open: async (...given) => (await load()).open(...given),
  list: async (...given) => (await load()).list(...given),
  clear: async (...given) => (await load()).clear(...given),
  embedPending: async (...given) => (await load()).embedPending(...given),
  search: async (...given) => (await load()).search(...given),
})
