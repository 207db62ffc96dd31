import { BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint'

/** Returns the conditions on the levels of a namespace. */
const levels = (namespace) => Object.fromEntries(namespace.map((name, i) => [`lg_${i}`, name]))

const nameOf = ({ namespace, key }) => JSON.stringify([namespace, key])

/** Copies items to a store in memory, which filters values and lists namespaces as LangGraph does. */
async function copyOf(items) {
  const copy = new InMemoryStore()
  for (const { namespace, key, value } of items) await copy.put(namespace, key, value)
  return copy
}

/**
 * A LangGraph store whose items are memories of Commonplace: other agents find them by search.
 *
 * @example
 * const store = new CommonplaceStore({ url: 'http://localhost:8787', key: process.env.COMMONPLACE_KEY, project: 'ferry' })
 */
export class CommonplaceStore extends BaseStore {
  constructor({ url, key, project }) {
    super()
    this.api = new URL('/api/v1/orgs/-', url).href
    this.project = project
    this.headers = { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) }
  }

  async request(method, path, body) {
    const response = await fetch(this.api + path, { method, headers: this.headers, body: body && JSON.stringify(body) })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error?.message ?? `HTTP ${response.status}`)
    return answer
  }

  /** Returns the items with these conditions; without a limit, all of them. */
  async find(where, { query, limit = Number.POSITIVE_INFINITY, offset = 0 } = {}) {
    const found = []
    const asked = { where: { lg_depth: { gte: 1 }, ...where }, project: this.project, captured: 'exclude' }
    for (let more = true; more && found.length < limit; ) {
      const window = { limit: Math.min(50, limit - found.length), offset: offset + found.length }
      const page = await this.request('POST', '/search', { ...asked, ...window, query, explain: query !== undefined })
      const items = await this.read([...page.results, ...(page.omitted ?? [])])
      found.push(...items)
      more = page.more === true && items.length > 0
    }
    return found
  }

  /** Reads the items of results, in their order. */
  async read(results) {
    const found = new Map()
    for (let ids = results.map(({ id }) => id); ids.length > 0; ) {
      const { memories, omitted = [] } = await this.request('GET', `/fetch?max_tokens=32000&ids=${ids}`)
      for (const memory of memories) found.set(memory.id, memory)
      ids = omitted
    }
    return results.flatMap(({ id, scores }) => {
      const { metadata, at, updated_at: updated = at } = found.get(id) ?? {}
      if (metadata === undefined) return []
      const namespace = Array.from({ length: metadata.lg_depth }, (_, i) => metadata[`lg_${i}`])
      const item = { id, namespace, key: metadata.lg_key, value: JSON.parse(metadata.lg_value) }
      const dates = { createdAt: new Date(at), updatedAt: new Date(updated) }
      return [{ ...item, ...dates, ...(scores && { score: scores.score }) }]
    })
  }

  async item({ namespace, key }) {
    return (await this.find({ ...levels(namespace), lg_depth: namespace.length, lg_key: key }, { limit: 1 }))[0]
  }

  async write({ namespace, key, value }) {
    const before = await this.item({ namespace, key })
    if (value === null) return before && this.request('DELETE', `/entries/${before.id}`)
    const metadata = { ...levels(namespace), lg_depth: namespace.length, lg_key: key, lg_value: JSON.stringify(value) }
    const title = [...namespace, key].join('/').slice(0, 200)
    const memory = { title, content: JSON.stringify({ key, ...value }), metadata }
    if (before !== undefined) return this.request('PATCH', `/entries/${before.id}`, memory)
    return this.request('POST', '/entries', { ...memory, kind: 'note', project: this.project })
  }

  async search(prefix, { filter, query, limit = 10, offset = 0 } = {}) {
    if (filter === undefined) return this.find(levels(prefix), { query, limit, offset })
    const items = await this.find(levels(prefix), { query })
    const copy = await copyOf(items)
    const names = new Set((await copy.search(prefix, { filter, limit: items.length })).map(nameOf))
    return items.filter((item) => names.has(nameOf(item))).slice(offset, offset + limit)
  }

  async batch(operations) {
    const results = []
    for (const one of operations) {
      if ('value' in one) results.push(void (await this.write(one)))
      else if ('key' in one) results.push((await this.item(one)) ?? null)
      else if ('namespacePrefix' in one) results.push(await this.search(one.namespacePrefix, one))
      else results.push((await (await copyOf(await this.find({}))).batch([one]))[0])
    }
    return results
  }
}
