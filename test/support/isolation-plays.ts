import { expect } from 'vitest'
import type { Answer, Json, Key, ToolAnswer, World } from './isolation'
import { forEach, type Memory, Model, Refusal, type Said, type Turn, told, whole } from './isolation-model'
import { type Die, PROJECTS, Sayings, THREADS, WORDS } from './isolation-sayings'

/** Random calls by keys of two organizations, each compared with the model (contracts/isolation-random.ts). */
export interface Play {
  readonly kind: string
  readonly key: number
  readonly dice: readonly number[]
}

/** Names of refused actions on administration pages. */
const ADMINISTRATION: Readonly<Record<string, string>> = {
  '/projects': 'projects.list',
  '/keys': 'keys.list',
  '/audit': 'audit.read',
  '/settings': 'settings.read',
  '/backups': 'backups.list',
  '/cost': 'usage.read',
}

const SECRET = /secret\dx\d+/g

type Change = Said & { readonly context_id: number }

/** Expected rows of the audit log. */
interface Event {
  readonly org: string
  readonly key: Key
  readonly action: string
  readonly allowed: boolean
  readonly ids: number[]
  detail: Json
  readonly at: number
}

export class Stage {
  readonly model: Model
  /** Rows that the audit log of each organization must contain from now on. */
  readonly events: Event[] = []
  private readonly say: Sayings

  constructor(
    readonly world: World,
    readonly keys: readonly Key[],
    private readonly hashes: readonly string[],
  ) {
    this.model = new Model(() => world.clock.ms)
    this.say = new Sayings(hashes, keys[0]?.org, () => world.clock.ms)
  }

  /** Usually an ID that the key can see, else any of either organization, a deleted one, or one that never existed. */
  private anyId(key: Key, die: Die): number {
    const seen = this.model.seen(key)
    if (die(3) > 0 && seen.length > 0) return seen[die(seen.length)]?.id as number
    return 1 + this.base + die(this.model.memories.size + this.gone + 3)
  }
  private base = 0
  private gone = 0

  private note(key: Key, action: string, allowed: boolean, ids: number[], detail: Json): void {
    const at = this.world.clock.ms
    // Equal denials of a key share a row within a minute.
    const before = this.events.findLast((one) => one.key === key && one.action === action && !one.allowed && !allowed)
    if (before !== undefined && before.at > at - 60_000)
      before.detail = { ...before.detail, count: (before.detail.count ?? 1) + 1 }
    else this.events.push({ org: key.org, key, action, allowed, ids, detail, at })
  }

  /** A call. Its answer must contain no secret that the caller cannot see and did not send. */
  private async call(key: Key, tool: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const allowed = JSON.stringify([this.model.seen(key), args])
    const answer = await this.world.call(key, tool, args)
    for (const secret of answer.body.match(SECRET) ?? [])
      if (!allowed.includes(secret) && !JSON.stringify(this.model.seen(key)).includes(secret))
        throw new Error(`${tool} told ${secret} to ${JSON.stringify(key)}: ${answer.body}`)
    return answer
  }

  /** A write with the role writer. The model returns whether it is refused, and its changes. */
  private async write(
    key: Key,
    tool: string,
    args: Record<string, unknown>,
    plan: () => (data: Json) => { ids: number[]; detail: Json },
  ): Promise<void> {
    let apply: ReturnType<typeof plan>
    try {
      if (key.role === 'reader') throw new Refusal('forbidden', `${tool} needs the role writer; this key is a reader`)
      apply = plan()
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal
      const { error } = await this.call(key, tool, args)
      expect([tool, args, error?.code]).toEqual([tool, args, refusal.code])
      expect(error?.message).toContain(refusal.message)
      if (refusal.denied > 0) this.note(key, tool, false, [], { denied: refusal.denied })
      return
    }
    const { data, error } = await this.call(key, tool, args)
    expect([tool, args, error]).toEqual([tool, args, null])
    const { ids, detail } = apply(data)
    this.note(key, tool, true, ids, detail)
  }

  private applyTurn(key: Key, turn: Turn, id: number): void {
    const same = this.model.repeated(key, turn)
    if (same) expect(id).toBe(same.id)
    else {
      expect(this.model.memories.has(id)).toBe(false)
      if (this.base === 0) this.base = id - 1
    }
    this.model.store(key, turn, id)
  }

  /** Requests a restricted page; refusals are logged. */
  private checkDoor(key: Key, path: string, status: number): void {
    const action = path === '/review' ? 'captured.list' : ADMINISTRATION[path]
    if (action === undefined) return
    const isFor = path === '/review' ? key.role !== 'reader' : key.role === 'admin'
    expect([path, key.role, status]).toEqual([path, key.role, isFor ? 200 : 403])
    if (!isFor) this.note(key, action, false, [], { denied: 1 })
  }

  /** A pack lists only entries that the key can see, and is recorded as a sight of an agent. */
  private checkPack(key: Key, path: string, { status, body }: Pick<Answer, 'status' | 'body'>): void {
    const project = new URL(path, 'http://localhost').searchParams.get('project')
    const reaches = project === null || key.projects === null || key.projects.includes(project)
    expect([path, status]).toEqual([path, reaches ? 200 : 403])
    if (!reaches) return
    const ids = [...body.matchAll(/<h3><a href="\/entries\/(\d+)"/g)].map(([, id]) => Number(id))
    const seen = this.model.seen(key).map(({ id }) => id)
    for (const [, id] of body.matchAll(/href="\/entries\/(\d+)"/g)) expect(seen).toContain(Number(id))
    // A key of one project uses that project.
    const asked = project ?? (key.projects?.length === 1 ? key.projects[0] : null)
    const detail = {
      intent: 'build',
      items: ids.length,
      layer: 'recall',
      ...(asked === null ? {} : { project: asked }),
    }
    this.note(key, 'context', true, ids, detail)
  }

  private remove(memories: readonly Memory[]): { ids: number[]; detail: Json } {
    for (const { id } of memories) this.model.memories.delete(id)
    this.gone += memories.length
    const ids = memories.map(({ id }) => id).sort((a, b) => a - b)
    return { ids, detail: { deleted: memories.length } }
  }

  private readonly plays: Record<string, (key: Key, die: Die) => Promise<unknown>> = {
    store: (key, die) => {
      const turn = this.say.turn(key, die)
      return this.write(key, 'store_context', this.say.turnArguments(turn), () => {
        this.model.placeOf(key, turn)
        return (data) => {
          this.applyTurn(key, turn, data.context_id)
          return { ids: [data.context_id], detail: { stored: 1 } }
        }
      })
    },

    storeBatch: (key, die) => {
      const turns = [this.say.turn(key, die), this.say.turn(key, die)]
      return this.write(key, 'store_context_batch', { entries: turns.map(this.say.turnArguments) }, () => {
        forEach(turns, (turn) => this.model.placeOf(key, turn))
        return ({ results }) => {
          const ids = results.map((item: Json) => item.context_id)
          for (const [i, turn] of turns.entries()) this.applyTurn(key, turn, ids[i])
          return { ids, detail: { stored: 2 } }
        }
      })
    },

    update: (key, die) =>
      this.update(key, 'update_context', [{ context_id: this.anyId(key, die), ...this.say.said(key, die) }]),

    updateBatch: (key, die) => {
      const changes = [0, 1].map(() => ({ context_id: this.anyId(key, die), ...this.say.said(key, die) }))
      return this.update(key, 'update_context_batch', changes)
    },

    delete: (key, die) => {
      const ids = [this.anyId(key, die), this.anyId(key, die)].slice(die(2))
      return this.delete(key, 'delete_context', { context_ids: ids }, { ids })
    },

    deleteThread: (key, die) => {
      const thread = THREADS[die(3)] as string
      return this.delete(key, 'delete_context', { thread_id: thread }, { thread })
    },

    deleteOld: (key, die) => {
      const [source, thread] = [die(2) ? 'user' : 'agent', THREADS[die(3)] as string]
      const args = { older_than_days: 1, source, thread_ids: [thread] }
      const before = this.world.clock.ms - 86_400_000
      return this.delete(key, 'delete_context_batch', args, { source, thread, before })
    },

    get: async (key, die) => {
      const ids = [...new Set([this.anyId(key, die), this.anyId(key, die), this.anyId(key, die)])]
      const { data } = await this.call(key, 'get_context_by_ids', { context_ids: ids })
      const seen = this.model.seen(key)
      const expected = ids.flatMap((id) => seen.find((memory) => memory.id === id) ?? [])
      expect(data.result.map(whole)).toEqual(expected.map(told))
      expect(data.missing).toEqual(ids.filter((id) => !expected.some((memory) => memory.id === id)))
    },

    browse: async (key, die) => {
      const filters: [Record<string, unknown>, (memory: Memory) => boolean][] = [
        [{}, () => true],
        [{ thread_id: 'alpha' }, ({ thread }) => thread === 'alpha'],
        [{ source: 'user' }, ({ source }) => source === 'user'],
        [{ tags: ['red'] }, ({ tags }) => tags.includes('red')],
        [{ content_type: 'multimodal' }, ({ images }) => images.length > 0],
        [{ metadata: { project: 'a' } }, ({ metadata }) => metadata?.project === 'a'],
        [{ metadata: { n: 1 } }, ({ metadata }) => metadata?.n === 1],
      ]
      const [filter, admits] = filters[die(7)] as (typeof filters)[number]
      const args = { ...filter, limit: 100, include_images: true, explain_query: true }
      const { data } = await this.call(key, 'search_context', args)
      const expected = this.model.found(key).filter(admits)
      const newest = expected.sort(
        (a, b) => Math.floor(b.createdAt / 1000) - Math.floor(a.createdAt / 1000) || b.id - a.id,
      )
      expect([filter, data.results.map(whole)]).toEqual([filter, newest.map(told)])
      expect([data.total, data.count, data.stats.rows_returned]).toEqual(Array(3).fill(expected.length))
    },

    search: async (key, die) => {
      const words = [WORDS[die(3)] as string, `secret${die(2)}x${die(4)}`]
      const found = this.model.found(key)
      const hits = found.filter(({ text }) => words.some((word) => text.includes(word))).length
      const args = { query: words.join(' '), limit: 100 }
      const fts = (await this.call(key, 'fts_search_context', { ...args, highlight: true })).data
      const semantic = (await this.call(key, 'semantic_search_context', args)).data
      const hybrid = (await this.call(key, 'hybrid_search_context', { ...args, explain_query: true })).data
      expect([fts.total, semantic.total, hybrid.fts_count]).toEqual([hits, found.length, hits])
      for (const { results } of [fts, semantic, hybrid])
        for (const result of results) {
          const memory = found.find(({ id }) => id === result.id)
          expect(whole(result)).toEqual(memory && told(memory))
        }
    },

    threads: async (key) => {
      const { data } = await this.call(key, 'list_threads', {})
      const expected = this.model.threads(key)
      expect([data.threads, data.total]).toEqual([expected, expected.length])
    },

    statistics: async (key) => {
      const { data } = await this.call(key, 'get_statistics', {})
      const { embedded, indexed, ...expected } = this.model.statistics(key)
      expect(data).toMatchObject(expected)
      expect([data.semantic_search.context_count, data.fts.indexed_entries]).toEqual([embedded, indexed])
      expect(data.pending_work).toEqual({ pending: 0, failed: 0, oldest_at: null })
    },

    image: async (key) => {
      for (const hash of this.hashes) {
        const { status, body } = await this.http(key, 'GET', `/images/${hash}`)
        const visible = this.model.seen(key).some(({ images }) => images.includes(hash))
        expect([hash, status]).toEqual([hash, visible ? 200 : 404])
        if (!visible) expect(body).toBe('{"error":{"code":"not_found","message":"Image not found","retryable":false}}')
      }
    },

    page: async (key, die) => {
      const id = this.anyId(key, die)
      const thread = THREADS[die(3)] as string
      const seen = this.model.seen(key)
      const word = WORDS[die(3)]
      const paths = [
        ...['/', '/threads', '/activity', '/search', `/search?q=${word}`, '/search?source=user&tag=red', '/review'],
        ...[
          `/search?q=${word}&by=words`,
          `/search?q=${word}&by=meaning`,
          `/pack?goal=${word}`,
          `/pack?goal=${word}&project=b`,
        ],
        ...[`/threads/${thread}`, `/entries/${id}`, `/entries/${id}/versions/1`, `/entries/${id}/edit`],
        ...[`/entries/${id}/delete`, ...Object.keys(ADMINISTRATION)],
      ]
      const path = paths[die(paths.length)] as string
      const { status, body } = await this.world.page(key, path)
      this.checkDoor(key, path, status)
      if (path.startsWith('/pack?')) this.checkPack(key, path, { status, body })
      for (const secret of body.match(SECRET) ?? [])
        expect([path, JSON.stringify(seen)]).toEqual([path, expect.stringContaining(secret)])
      const sees = seen.some((memory) => memory.id === id)
      if (path === `/entries/${id}`) expect([path, status]).toEqual([path, sees ? 200 : 404])
      if (/\/(edit|delete)$/.test(path) && !sees) expect([path, status]).toEqual([path, 404])
      if (path === '/') {
        const count = /<dt>Memories<\/dt><dd>([\d,]+)</.exec(body)?.[1]?.replaceAll(',', '') ?? '0'
        expect([path, Number(count)]).toEqual([path, this.model.found(key).length])
      }
    },

    administer: async (key, die) => {
      const route = ['keys', 'projects', 'audit?limit=1000'][die(3)] as string
      const org = die(2) ? key.org : (this.keys.find((other) => other.org !== key.org)?.org as string)
      const { status, json } = await this.http(key, 'GET', `/api/v1/orgs/${org}/${route}`)
      const action = { keys: 'keys.list', projects: 'projects.list' }[route] ?? 'audit.read'
      if (key.role !== 'admin') this.note(key, action, false, [], { denied: 1 })
      expect(status).toBe(key.role !== 'admin' ? 403 : org === key.org ? 200 : 404)
      if (status !== 200) return
      const administered = this.keys.filter((other) => other.org === org && reaches(key, other)).map(({ id }) => id)
      if (json.keys) expect(json.keys.map((one: Json) => one.id).sort()).toEqual(administered.toSorted())
      if (json.events && key.projects) for (const event of json.events) expect(administered).toContain(event.key_id)
      const open = (project: string) => key.projects?.includes(project) ?? PROJECTS.includes(project)
      for (const project of json.projects ?? []) expect([project.id, open(project.id)]).toEqual([project.id, true])
    },

    export: async (key, die) => {
      const org = die(3) ? key.org : (this.keys.find((other) => other.org !== key.org)?.org as string)
      const { status, body } = await this.http(key, 'GET', `/api/v1/orgs/${org}/export?images=false`)
      if (key.role !== 'admin') this.note(key, 'export', false, [], { denied: 1 })
      expect(status).toBe(key.role !== 'admin' ? 403 : org === key.org ? 200 : 404)
      if (status !== 200) return
      this.note(key, 'export', true, [], { volume: 1 })
      const records = body
        .trimEnd()
        .split('\n')
        .map((line): Json => JSON.parse(line))
      const entries = records.filter(({ record }) => record === 'entry')
      const seen = this.model.seen(key).toSorted((a, b) => a.id - b.id)
      expect(entries.map(({ id, text, thread_id: thread, version }) => ({ id, text, thread, version }))).toEqual(
        seen.map(({ id, text, thread, version }) => ({ id, text, thread, version })),
      )
      expect(records.at(-1).counts.entry ?? 0).toBe(seen.length)
    },

    wait: async (_, die) => void this.world.clock.advance([0, 400, 1000, 7000, 20_000, 100_000_000][die(6)] as number),
    maintain: async () => {
      await this.world.services.schedule.run()
    },
  }

  private update(key: Key, tool: string, changes: readonly Change[]) {
    const items = changes.map(({ context_id, ...said }) => ({ context_id, ...this.say.wire(said) }))
    const args = tool === 'update_context' ? (items[0] as Record<string, unknown>) : { updates: items }
    return this.write(key, tool, args, () => {
      const after = new Map<number, Memory>()
      forEach(changes, ({ context_id: id, ...said }) => {
        const original = this.model.memories.get(id)
        after.set(id, this.model.updated(key, id, said, original, after.get(id) ?? original))
      })
      return () => {
        for (const [id, memory] of after) this.model.memories.set(id, memory)
        return { ids: [...after.keys()], detail: { updated: after.size } }
      }
    })
  }

  private delete(key: Key, tool: string, args: Record<string, unknown>, by: Parameters<Model['deletable']>[1]) {
    return this.write(key, tool, args, () => {
      const gone = this.model.deletable(key, by)
      return (data) => {
        expect(data.deleted_count).toBe(gone.length)
        return this.remove(gone)
      }
    })
  }

  private async http(key: Key, method: string, path: string): Promise<Answer> {
    const answer = await this.world.http(key.secret, method, path)
    const seen = JSON.stringify(this.model.seen(key))
    for (const secret of answer.body.match(SECRET) ?? []) expect(seen).toContain(secret)
    return answer
  }

  static readonly KINDS = [
    ...[
      'store',
      'store',
      'store',
      'store',
      'store',
      'storeBatch',
      'storeBatch',
      'update',
      'update',
      'update',
      'updateBatch',
    ],
    ...['delete', 'delete', 'deleteThread', 'deleteOld', 'get', 'browse', 'browse', 'search', 'threads', 'statistics'],
    ...['image', 'page', 'page', 'administer', 'export', 'wait', 'maintain'],
  ]

  async play({ kind, key, dice }: Play): Promise<void> {
    let at = 0
    const die: Die = (sides) => (dice[at++ % dice.length] as number) % sides
    await this.plays[kind]?.(this.keys[key % this.keys.length] as Key, die)
    await this.world.settle()
  }
}

/** Whether an administrator's key administers another key. */
export const reaches = (by: Key, other: Key): boolean =>
  by.projects === null || other.projects?.every((project) => by.projects?.includes(project)) === true
