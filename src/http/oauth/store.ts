/**
 * Wraps the KV namespace in which the provider keeps its records: a name that is too long counts as missing. Clients choose parts
 * of these names, and KV itself answers a long one with an error.
 */
export type BoundedStore = Pick<KVNamespace, 'get' | 'put' | 'delete' | 'list'>

const MAX_NAME_BYTES = 512

const exists = (name: string) => new TextEncoder().encode(name).byteLength <= MAX_NAME_BYTES

/** @param kv holds hashes of tokens, codes and secrets; the content of a grant is encrypted with the token itself */
export function boundedStore(kv: KVNamespace): BoundedStore {
  return {
    get: (async (name: string, options: KVNamespaceGetOptions<'json'>) =>
      exists(name) ? kv.get(name, options) : null) as KVNamespace['get'],
    put: (name, value, options) => kv.put(name, value, options),
    delete: async (name) => {
      if (exists(name)) await kv.delete(name)
    },
    list: (options) => kv.list(options),
  }
}
