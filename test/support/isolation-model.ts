import type { Json, Key } from './isolation'

/**
 * Read and write access, implemented again in plain code from the platform contract §5: the reference for isolation
 * tests.
 */
type Metadata = Record<string, unknown>

export interface Memory {
  readonly id: number
  readonly org: string
  readonly thread: string
  readonly source: 'user' | 'agent'
  readonly owner: string
  readonly createdAt: number
  text: string
  metadata: Metadata | null
  tags: string[]
  images: string[]
  project: string | null
  version: number
}

/** Arguments of a store or an update; absent ones are not sent. */
export interface Said {
  readonly text?: string
  readonly metadata?: Metadata
  readonly metadata_patch?: Metadata
  readonly tags?: string[]
  /** Hashes. */
  readonly images?: string[]
}

export interface Turn extends Said {
  readonly thread: string
  readonly source: 'user' | 'agent'
  readonly text: string
}

/** Why a write is refused. */
export class Refusal extends Error {
  constructor(
    readonly code: 'forbidden' | 'invalid_input' | 'not_found',
    message: string,
    /** Items of a call that were denied. */
    readonly denied = code === 'forbidden' ? 1 : 0,
  ) {
    super(message)
  }
}

/** Runs a step for each item of a call; if some are refused, the call is refused for the reason of the first. */
export function forEach<T, R>(items: readonly T[], step: (item: T) => R): R[] {
  const refusals: Refusal[] = []
  const results: R[] = []
  for (const item of items)
    try {
      results.push(step(item))
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal
      refusals.push(refusal)
    }
  const [first] = refusals
  if (first === undefined) return results
  throw new Refusal(first.code, first.message, refusals.filter(({ code }) => code === 'forbidden').length)
}

const isPrivate = (metadata: Metadata | null): boolean => metadata?.audience === 'private' || metadata?.diary === true
const named = (metadata: Metadata | null): string | null => (metadata?.project as string | undefined) ?? null

/** The project of a write: the named one if the key reaches it, else the key's only one. */
function projectFor(key: Key, metadata: Metadata | null, kept: string | null): string | null {
  const project = named(metadata)
  if (project !== null) {
    if (key.projects && !key.projects.includes(project))
      throw new Refusal('forbidden', `Project access denied: ${project}`)
    return project
  }
  if (kept !== null) return kept
  if (key.projects === null) return null
  if (key.projects.length === 1) return key.projects[0] as string
  const choice = key.projects.join(', ')
  throw new Refusal('invalid_input', `metadata.project is required for this key; choose one of: ${choice}`)
}

function merged(target: Metadata | null, patch: Metadata): Metadata {
  const result = { ...target }
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name]
    else result[name] = value
  return result
}

export class Model {
  readonly memories = new Map<number, Memory>()
  constructor(readonly now: () => number) {}

  /** Readable by id. */
  sees(key: Key, memory: Memory): boolean {
    const expires = memory.metadata?.expires_at as string | undefined
    return (
      memory.org === key.org &&
      (expires === undefined || Date.parse(expires) > this.now()) &&
      (key.projects === null || memory.project === null || key.projects.includes(memory.project)) &&
      (!isPrivate(memory.metadata) || memory.owner === key.owner)
    )
  }

  /** In lists, searches and counts. */
  finds(key: Key, memory: Memory): boolean {
    const { metadata } = memory
    return this.sees(key, memory) && metadata?.diary !== true
  }

  writes = (key: Key, memory: Memory): boolean =>
    this.sees(key, memory) &&
    (key.projects === null || (memory.project !== null && key.projects.includes(memory.project)))

  seen = (key: Key): Memory[] => [...this.memories.values()].filter((memory) => this.sees(key, memory))
  found = (key: Key): Memory[] => [...this.memories.values()].filter((memory) => this.finds(key, memory))

  /** The project of a store. @throws Refusal */
  placeOf = (key: Key, turn: Turn): string | null => projectFor(key, turn.metadata ?? null, null)

  /** The memory that a store repeats, which is changed in place of a new one. */
  repeated(key: Key, turn: Turn): Memory | null {
    const inThread = this.found(key).filter(({ thread }) => thread === turn.thread)
    const newest = (source: string) => inThread.filter((memory) => memory.source === source).at(-1)
    const [same, answer] = [newest(turn.source), newest(turn.source === 'user' ? 'agent' : 'user')]
    if (same === undefined || same.text !== turn.text || !this.writes(key, same)) return null
    if (isPrivate(turn.metadata ?? null) && same.owner !== key.owner) return null
    if (turn.metadata && same.project !== this.placeOf(key, turn)) return null
    return answer !== undefined && answer.id > same.id ? null : same
  }

  /** @param id ID from the store */
  store(key: Key, turn: Turn, id: number): void {
    const project = this.placeOf(key, turn)
    const { thread, source, text, metadata, tags, images } = turn
    const same = this.repeated(key, turn)
    if (same === null) {
      const fresh = { metadata: metadata ?? null, tags: tags ?? [], images: images ?? [], project, version: 1 }
      const { org, owner } = key
      this.memories.set(id, { id, org, thread, source, owner, createdAt: this.now(), text, ...fresh })
      return
    }
    if (metadata) Object.assign(same, { metadata, project })
    Object.assign(same, { ...(tags ? { tags } : {}), ...(images ? { images } : {}), version: same.version + 1 })
  }

  /**
   * The next state of a memory.
   * @param original state before the call, which may have changed it already
   * @throws Refusal
   */
  updated(key: Key, id: number, said: Said, original: Memory | undefined, current = original): Memory {
    if (original === undefined || current === undefined || !this.writes(key, original))
      throw new Refusal('not_found', `Context entry with ID ${id} not found`)
    const metadata = said.metadata ?? (said.metadata_patch ? merged(current.metadata, said.metadata_patch) : null)
    const kept = named(original.metadata) === null ? original.project : null
    return {
      ...current,
      ...(said.text ? { text: said.text } : {}),
      ...(metadata ? { metadata, project: projectFor(key, metadata, kept) } : {}),
      ...(said.tags ? { tags: said.tags } : {}),
      ...(said.images ? { images: said.images } : {}),
      version: current.version + 1,
    }
  }

  /** Entries that a delete affects. */
  deletable(key: Key, by: { ids?: number[]; thread?: string; source?: string; before?: number }): Memory[] {
    const named = (by.ids ?? []).flatMap((id) => this.memories.get(id) ?? [])
    return (by.ids ? [...new Set(named)] : this.found(key)).filter(
      (memory) =>
        this.writes(key, memory) &&
        (by.thread === undefined || memory.thread === by.thread) &&
        (by.source === undefined || memory.source === by.source) &&
        (by.before === undefined || memory.createdAt < by.before),
    )
  }

  /** Expected values of `get_statistics`, as far as it counts entries. */
  statistics(key: Key) {
    const all = this.found(key)
    const ranked = (names: string[], limit: number) => {
      const counts = new Map<string, number>()
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      const order = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
      return { size: counts.size, top: order.slice(0, limit) }
    }
    const threads = ranked(
      all.map(({ thread }) => thread),
      5,
    )
    const tags = ranked(
      all.flatMap((memory) => memory.tags),
      10,
    )
    const users = all.filter(({ source }) => source === 'user').length
    const illustrated = all.filter(({ images }) => images.length > 0).length
    return {
      total_entries: all.length,
      by_source: { user: users, agent: all.length - users },
      by_content_type: { text: all.length - illustrated, multimodal: illustrated },
      total_images: all.reduce((sum, { images }) => sum + images.length, 0),
      unique_tags: tags.size,
      total_threads: threads.size,
      most_active_threads: threads.top.map(([thread_id, count]) => ({ thread_id, count })),
      top_tags: tags.top.map(([tag, count]) => ({ tag, count })),
      embedded: all.length,
      indexed: all.length,
    }
  }

  /** Expected values of `list_threads`. */
  threads(key: Key) {
    const all = this.found(key)
    const second = (memories: Memory[], pick: (...of: number[]) => number) =>
      new Date(Math.floor(pick(...memories.map(({ createdAt }) => createdAt)) / 1000) * 1000)
        .toISOString()
        .replace('.000', '')
    return [...new Set(all.map(({ thread }) => thread))]
      .map((thread) => {
        const memories = all.filter((memory) => memory.thread === thread)
        return {
          thread_id: thread,
          entry_count: memories.length,
          source_types: new Set(memories.map(({ source }) => source)).size,
          multimodal_count: memories.filter(({ images }) => images.length > 0).length,
          first_entry: second(memories, Math.min),
          last_entry: second(memories, Math.max),
          last_id: Math.max(...memories.map(({ id }) => id)),
        }
      })
      .sort((a, b) => (a.last_entry === b.last_entry ? b.last_id - a.last_id : a.last_entry < b.last_entry ? 1 : -1))
  }
}

const iso = (ms: number): string => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000', '')

/** The fields of a tool's answer that the model knows. */
export const told = (memory: Memory) => ({
  id: memory.id,
  thread_id: memory.thread,
  source: memory.source,
  text_content: memory.text,
  content_type: memory.images.length > 0 ? 'multimodal' : 'text',
  metadata: memory.metadata,
  tags: memory.tags,
  version: memory.version,
  created_at: iso(memory.createdAt),
})
/** The same fields of an entry in an answer. */
export const whole = ({
  id,
  thread_id,
  source,
  text_content,
  content_type,
  metadata,
  tags,
  version,
  created_at,
}: Json) => ({
  ...{ id, thread_id, source, text_content, content_type, metadata, tags, version, created_at },
})
