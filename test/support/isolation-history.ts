import { expect } from 'vitest'
import type { Json, Key, World } from './isolation'

/** History and its readers (history contract §3, §4): random changes of entries, each read with several keys. */
interface State {
  readonly text: string
  readonly project: string | null
  readonly isPrivate: boolean
  readonly diary: boolean
}

/** A version; a deletion has the state before it. */
interface Version extends State {
  readonly at: number
  readonly deleted: boolean
}

interface Entry {
  readonly id: number
  readonly org: string
  readonly owner: string
  readonly versions: Version[]
  /** Permanently. */
  erased?: boolean
}

const SECRET = /secret\d+x/g
const STEP_MS = 1000

export class HistoryStage {
  private readonly entries: Entry[] = []
  private readonly changes: { entry: Entry; version: number; before: State | null; after: State | null }[] = []
  private readonly cursors = new Map<Key, string>()
  private secrets = 0

  constructor(
    readonly world: World,
    readonly keys: readonly Key[],
    private readonly dice: () => number,
  ) {}

  private die = (sides: number): number => Math.floor(this.dice() * sides)
  private one = <T>(list: readonly T[]): T | undefined => list[this.die(list.length)]

  private sees = (key: Key, { org, owner }: Entry, state: State): boolean =>
    org === key.org &&
    (key.projects === null || state.project === null || key.projects.includes(state.project)) &&
    (!(state.isPrivate || state.diary) || owner === key.owner)

  private writes = (key: Key, entry: Entry, state: State): boolean =>
    key.role !== 'reader' &&
    this.sees(key, entry, state) &&
    (key.projects === null || (state.project !== null && key.projects.includes(state.project)))

  private last = (entry: Entry): Version => entry.versions.at(-1) as Version

  /** A call; every text in its answer must have been visible to the caller at some time. */
  private async call(
    key: Key,
    tool: string,
    args: Record<string, unknown>,
  ): Promise<{ data: Json; code: string | null }> {
    const { data, error, body } = await this.world.call(key, tool, args)
    const allowed = this.entries
      .filter(({ erased }) => !erased)
      .flatMap((entry) => entry.versions.filter((state) => this.sees(key, entry, state)).map(({ text }) => text))
    const said = JSON.stringify([allowed, args])
    for (const secret of body.match(SECRET) ?? [])
      if (!said.includes(secret))
        throw new Error(`${tool} ${JSON.stringify(args)} told ${secret} to ${JSON.stringify(key)}: ${body}`)
    return { data, code: error?.code ?? null }
  }

  private draw(key: Key): { state: State; metadata: Record<string, unknown> } {
    const project =
      key.projects === null
        ? ([null, null, 'a', 'b'][this.die(4)] as string | null)
        : (this.one(key.projects) as string)
    const [isPrivate, diary] = [this.die(4) === 0, this.die(9) === 0]
    const state = { text: `secret${++this.secrets}x of the harbour`, project, isPrivate, diary }
    return { state, metadata: { project, audience: isPrivate ? 'private' : 'org', diary } }
  }

  private note(entry: Entry, state: State | null): void {
    const before = entry.versions.at(-1)
    const at = this.world.clock.now()
    entry.versions.push({ ...(state ?? (before as Version)), at, deleted: state === null })
    const stood = before === undefined || before.deleted ? null : before
    this.changes.push({ entry, version: entry.versions.length, before: stood, after: state })
  }

  private async store(key: Key): Promise<void> {
    const { state, metadata } = this.draw(key)
    const args = { thread_id: `t${this.secrets}`, source: 'user', text: state.text, metadata }
    this.entries.push({ id: 0, org: key.org, owner: key.owner, versions: [] })
    const entry = this.entries.at(-1) as Entry
    const { data, code } = await this.call(key, 'store_context', args)
    expect([args, code]).toEqual([args, null])
    Object.assign(entry, { id: data.context_id })
    this.note(entry, state)
  }

  private async change(key: Key, entry: Entry): Promise<void> {
    const { state, metadata } = this.draw(key)
    const args = { context_id: entry.id, text: state.text, metadata_patch: metadata }
    const may = !this.last(entry).deleted && this.writes(key, entry, this.last(entry))
    const { code } = await this.call(key, 'update_context', args)
    expect([args, key.owner, key.projects, code === null]).toEqual([args, key.owner, key.projects, may])
    if (may) this.note(entry, state)
  }

  private async remove(key: Key, entry: Entry): Promise<void> {
    const may = !this.last(entry).deleted && this.writes(key, entry, this.last(entry))
    const { data } = await this.call(key, 'delete_context', { context_ids: [entry.id] })
    expect(data.deleted_count === 1).toBe(may)
    if (may) this.note(entry, null)
  }

  /** Existing and deleted entries, with the keys that could write them. */
  private async erase(key: Key, entry: Entry): Promise<void> {
    const last = this.last(entry)
    const may = !entry.erased && this.writes(key, entry, last)
    const { data } = await this.call(key, 'delete_context', { context_ids: [entry.id], erase: true })
    const asked = [entry.id, key.owner, key.projects, last]
    expect([...asked, data.deleted_count === 1]).toEqual([...asked, may])
    if (may && !last.deleted) this.note(entry, null)
    if (may) entry.erased = true
  }

  private async restore(key: Key, entry: Entry): Promise<void> {
    const last = this.last(entry)
    const may = !entry.erased && last.deleted && this.writes(key, entry, last)
    const { data } = await this.call(key, 'restore_context', { context_ids: [entry.id] })
    const asked = [entry.id, key.owner, key.projects, last]
    expect([...asked, data.restored?.length === 1]).toEqual([...asked, may])
    if (may) this.note(entry, last)
  }

  /** Everything one key can read of an entry: its versions, one version in full, and all entries at some time. */
  private async look(key: Key, entry: Entry): Promise<void> {
    const { id } = entry
    const versions = entry.erased ? [] : entry.versions
    const numbered = versions
      .map((state, i) => ({ state, version: i + 1 }))
      .filter(({ state }) => this.sees(key, entry, state))
    const history = await this.call(key, 'get_context_history', { context_id: id, limit: 100, include_diff: true })
    if (numbered.length === 0) expect(history.code).toBe('not_found')
    else {
      const shown = history.data.versions.map(({ version, action, preview }: Json) => [
        version,
        action === 'deleted' ? '' : preview,
      ])
      expect(shown).toEqual(numbered.map(({ version, state }) => [version, state.deleted ? '' : state.text]).reverse())
      const hidden = entry.versions.filter((state) => !this.sees(key, entry, state)).map(({ text }) => text)
      for (const text of hidden) expect(JSON.stringify(history.data)).not.toContain(`${text}`)
    }
    const version = 1 + this.die(entry.versions.length)
    const state = entry.versions[version - 1] as Version
    const whole = await this.call(key, 'get_context_history', { context_id: id, version })
    if (entry.erased || state.deleted || !this.sees(key, entry, state)) expect(whole.code).toBe('not_found')
    else expect(whole.data.result[0]).toMatchObject({ id, version, text_content: state.text })
    await this.lookBack(key)
  }

  private async lookBack(key: Key): Promise<void> {
    const asked = this.entries.slice(-20)
    const at = (this.one(asked.flatMap(({ versions }) => versions)) as Version).at
    const as_of = new Date(at).toISOString()
    const { data } = await this.call(key, 'get_context_by_ids', { context_ids: asked.map(({ id }) => id), as_of })
    const then = asked.flatMap((entry) => {
      const state = entry.versions.findLast((one) => one.at <= at)
      return entry.erased || state === undefined || state.deleted || !this.sees(key, entry, state)
        ? []
        : [[entry.id, state.text]]
    })
    expect(data.result.map(({ id, text_content }: Json) => [id, text_content])).toEqual(then)
  }

  /** The full feed of one key: each change that it can see. */
  private async follow(key: Key): Promise<void> {
    const sees = (entry: Entry, state: State | null) => state !== null && !state.diary && this.sees(key, entry, state)
    const expected = this.changes.flatMap(({ entry, version, before, after }) => {
      const [saw, sees2] = [sees(entry, before), sees(entry, after)]
      const action = saw ? (sees2 ? 'updated' : 'deleted') : sees2 ? 'stored' : null
      return action === null ? [] : [[action, entry.id, version]]
    })
    const told: Json[] = []
    for (let after = this.cursors.get(key), more = true; more; ) {
      const { data } = await this.call(key, 'list_changes', { after, limit: 40 })
      for (const { action, context_id, version, preview } of data.changes) {
        told.push([action, context_id, version])
        const entry = this.entries.find(({ id }) => id === context_id) as Entry
        const stands = !this.last(entry).deleted && sees(entry, this.last(entry))
        if (preview !== '') expect([context_id, preview]).toEqual([context_id, stands ? this.last(entry).text : ''])
      }
      after = data.next
      more = data.hasMore
    }
    expect(told).toEqual(expected)
  }

  /** Runs a number of steps, then reads the feed with every key. */
  async play(steps: number): Promise<void> {
    for (const key of this.keys) this.cursors.set(key, (await this.call(key, 'list_changes', {})).data.next)
    const writers = this.keys.filter(({ role }) => role !== 'reader')
    for (let step = 0; step < steps; step++) {
      this.world.clock.advance(STEP_MS)
      const key = this.one(writers) as Key
      const entry = this.one(this.entries.slice(-6))
      const what = this.die(11)
      if (entry === undefined || what < 2) await this.store(key)
      else if (what < 6) await this.change(key, entry)
      else if (what < 8) await this.remove(key, entry)
      else if (what < 10) await this.restore(key, entry)
      else await this.erase(key, entry)
      await this.look(this.one(this.keys) as Key, entry ?? (this.entries[0] as Entry))
    }
    for (const key of this.keys) await this.follow(key)
  }
}
