// Clients that work on one memory at the same time, lose answers and repeat calls under their keys, while the server is killed and started
// again; the result is compared with the answers that they got. Used by history.mjs (long runs), and by the endpoint's
// contract (test/contracts/endpoint/history-random.ts, short runs).
import { isDeepStrictEqual } from 'node:util'
import { random } from '../support/numbers.mjs'
import { HistoryModel } from './history-model.mjs'
import { followPages, followStream } from './history-readers.mjs'
import { codeOf, World } from './history-world.mjs'

/** Entries that clients compete for: few, so that calls conflict. */
const QUARREL = 6
/** Calls of the past that a client may make again. */
const PAST = 20

/** Errors that no call may get. */
const LOST = /its answer was lost/

/** @typedef {{ name: string, args: Record<string, any>, id?: number, data?: any }} Call */

class Play {
  operations = 0
  conflicts = 0
  replays = 0
  refused = 0
  /** Entries and deletions that can be undone. @type {number[]} */
  ids = []
  /** @type {string[]} */
  deletions = []
  model = new HistoryModel()

  /** @param {World} world @param {() => void} heard called for each success */
  constructor(world, heard) {
    this.world = world
    this.heard = heard
  }

  /** Makes a random call, with its own key. @param {() => number} dice @param {string} key @returns {Promise<Call>} */
  async draw(dice, key) {
    const near = this.ids.slice(-QUARREL)
    const one = () => near[Math.floor(dice() * near.length)]
    const pick = dice()
    const [id, other] = [one(), one()]
    const draft = (/** @type {string} */ more) => ({
      thread_id: `t${key}`,
      source: 'agent',
      text: `stored by ${key}${more}`,
    })
    /** @param {string} name @param {Record<string, any>} args @param {number} [about] */
    const keyed = (name, args, about) => ({ name, args: { ...args, idempotency_key: key }, id: about })
    if (id === undefined || other === undefined || pick < 0.2) return this.drawStore(dice, key, keyed, draft)
    if (pick < 0.26) return keyed('store_context_batch', { entries: [draft(', first'), draft(', second')] })
    const { data } = await this.world.call('get_context_by_ids', { context_ids: [id] })
    const version = data.result[0]?.version
    const expected = dice() < 0.5 && version !== undefined ? { expected_version: version } : {}
    const memoryId = String(id)
    if (pick < 0.3) return keyed('context_update', { memoryId, content: `by ${key}`, ...expected }, id)
    if (pick < 0.55) return keyed('update_context', { context_id: id, text: `by ${key}`, ...expected }, id)
    if (pick < 0.65) return keyed('update_context', { context_id: id, metadata_patch: { [`k${key}`]: 1 } }, id)
    if (pick < 0.72 && id !== other) {
      const updates = [id, other].map((context_id) => ({ context_id, text: `by ${key}` }))
      return keyed('update_context_batch', { updates })
    }
    if (pick < 0.75) return keyed('context_delete', { memoryId, ...expected }, id)
    if (pick < 0.78) return keyed('delete_context_batch', { context_ids: [id] }, id)
    if (pick < 0.84) return keyed('delete_context', { context_ids: [id], ...expected }, id)
    const change_id = this.deletions[Math.floor(dice() * this.deletions.length)]
    if (pick < 0.88 && change_id !== undefined) return keyed('restore_context', { change_id })
    return keyed('restore_context', { context_ids: [id] }, id)
  }

  /**
   * Chooses one of the tools that store, whose answers may include other entries.
   *
   * @param {() => number} dice @param {string} key @param {(name: string, args: Record<string, any>) => Call} keyed
   * @param {(more: string) => Record<string, any>} draft
   */
  drawStore(dice, key, keyed, draft) {
    const how = dice()
    const { text } = draft('')
    if (how < 0.5) return keyed('store_context', draft(''))
    if (how < 0.7) return keyed('remember', { title: `memory ${key.length}`, content: text })
    if (how < 0.85) return keyed('context_store', { type: 'decision', content: text, metadata: {}, layer: 2 })
    // Errors that differ in numbers alone are one problem, which is counted.
    const error = text.replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? digit)
    const event = { type: 'error_occurred', payload: { error }, timestamp: '2026-11-22T09:00:00Z' }
    return keyed('context_reportEvent', { event: { ...event, sessionId: 's', cliType: 'generic' } })
  }

  /** Returns the effects of a success. @param {Call} call @returns {[id: number, told: import('./history-model.mjs').Told][]} */
  effects({ name, args, id, data }) {
    switch (name) {
      case 'store_context':
        return [[data.context_id, { action: 'stored', version: data.version, text: args.text }]]
      case 'remember':
      case 'context_store':
        return [[Number(data.id), { action: 'stored', version: 1, text: args.content }]]
      case 'context_reportEvent':
        return [[Number(data.memoryId), { action: 'stored', version: 1, text: args.event.payload.error }]]
      case 'context_update': {
        const { id: changed, version, content } = data.memory
        return [[Number(changed), { action: 'updated', version, text: content }]]
      }
      case 'context_delete':
        return [[/** @type {number} */ (id), { action: 'deleted' }]]
      case 'store_context_batch':
        return data.results.map(({ context_id }, i) => [
          context_id,
          { action: 'stored', version: 1, text: args.entries[i].text },
        ])
      case 'update_context': {
        const [patch] = Object.keys(args.metadata_patch ?? {})
        return [[data.context_id, { action: 'updated', version: data.version, text: args.text, patch }]]
      }
      case 'update_context_batch':
        return data.results.map(({ context_id, version }, i) => [
          context_id,
          { action: 'updated', version, text: args.updates[i].text },
        ])
      case 'delete_context':
      case 'delete_context_batch':
        return data.deleted_count === 1 ? [[/** @type {number} */ (id), { action: 'deleted' }]] : []
      default:
        return data.restored.map(({ context_id, version }) => [context_id, { action: 'restored', version }])
    }
  }

  /** @param {Call} call @param {{ data: any, isError: boolean }} again @param {boolean} [isSimultaneous] made at the same time */
  compare(call, again, isSimultaneous = false) {
    this.replays++
    const { replayed: _, ...first } = call.data
    const { replayed, ...second } = again.data
    // Of two at the same moment either may be the first.
    const once = replayed === true || (isSimultaneous && call.data.replayed === true)
    if (again.isError || !once || !isDeepStrictEqual(first, second))
      this.model.wrong.push(
        `${call.name} ${JSON.stringify(call.args)}: ${JSON.stringify(call.data)}, again ${JSON.stringify(again.data)}`,
      )
  }

  /** Makes one call, with random failures. @param {() => number} dice @param {string} key @param {Call[]} past */
  async step(dice, key, past) {
    const call = await this.draw(dice, key)
    const { world, model } = this
    /** @returns {import('./history-world.mjs').Cut | undefined} */
    const cut = () => {
      const how = dice()
      return how < 0.5 ? undefined : how < 0.65 ? 'sent' : how < 0.8 ? 'answered' : 1 + Math.floor(dice() * 4)
    }
    const tries = dice() < 0.25 ? [cut(), cut()] : [cut()]
    const answers = await Promise.all(tries.map((how) => world.call(call.name, call.args, how)))
    const good = answers.find(({ isError }) => !isError)
    if (good === undefined) {
      const [{ data }] = answers
      const code = codeOf(data)
      this.refused++
      if (code === 'conflict') this.conflicts++
      // A repeated call must get its first answer, never an error that the answer has expired.
      if (!['conflict', 'not_found'].includes(code) || answers.some((one) => LOST.test(JSON.stringify(one.data))))
        model.wrong.push(`${call.name}: ${JSON.stringify(answers.map((one) => one.data))}`)
      const late = answers.some(({ unanswered }) => unanswered > 0)
      if (late && call.id !== undefined) this.suspectAll(call, call.id)
      return
    }
    call.data = good.data
    this.operations++
    // One of two may have found the entry deleted, and the other, later, restored: a failed call stores nothing.
    for (const answer of answers) if (answer !== good && !answer.isError) this.compare(call, answer, true)
    if (good.data.replayed) this.replays++
    if (dice() < 0.3) this.compare(call, await world.call(call.name, call.args, cut()))
    for (const [id, told] of this.effects(call)) {
      if (told.action === 'stored') this.ids.push(id)
      model.note(id, told)
    }
    if (good.data.change_id) this.deletions.push(good.data.change_id)
    past.push(call)
    const old = past.slice(-PAST)[Math.floor(dice() * past.length)]
    if (old !== undefined && dice() < 0.15) this.compare(old, await world.call(old.name, old.args))
    this.heard()
  }

  /** @param {Call} call @param {number} id */
  suspectAll({ name, args }, id) {
    const action = /delete/.test(name) ? 'deleted' : name === 'restore_context' ? 'restored' : 'updated'
    this.model.suspect(id, {
      action,
      text: args.text ?? args.content,
      patch: Object.keys(args.metadata_patch ?? {})[0],
    })
  }

  /** Compares all content with all acknowledgements. @param {readonly import('./history-readers.mjs').Reader[]} readers */
  async check(readers) {
    const { world, model } = this
    const call = async (/** @type {string} */ name, /** @type {Record<string, unknown>} */ args) =>
      (await world.call(name, args)).data
    const histories = new Map()
    const standing = new Map()
    for (const id of this.ids) {
      const versions = []
      let deleted = false
      for (let more = true; more; ) {
        const page = await call('get_context_history', { context_id: id, limit: 100, offset: versions.length })
        versions.push(...page.versions)
        deleted = page.deleted
        more = page.hasMore === true
      }
      histories.set(id, versions.reverse())
      const must = model.checkVersions(id, histories.get(id))
      if (!deleted) standing.set(id, must)
    }
    for (let offset = 0, more = true; more; offset += 100) {
      const { results } = await call('search_context', { limit: 100, offset })
      more = results.length === 100
      const { result } =
        results.length === 0
          ? { result: [] }
          : await call('get_context_by_ids', { context_ids: results.map(({ id }) => id) })
      for (const { id, version, text_content, metadata = {} } of result) {
        const must = standing.get(id)
        standing.delete(id)
        if (must === undefined) model.doubled.push(`entry ${id} exists, but should not: ${text_content}`)
        else if (must.text !== text_content || version !== histories.get(id).length)
          model.wrong.push(`entry ${id} holds ${text_content} at version ${version}`)
        else
          for (const key of must.patches) if (metadata[key] !== 1) model.lost.push(`entry ${id} lost the patch ${key}`)
      }
    }
    for (const id of standing.keys()) model.lost.push(`entry ${id} should exist, but does not`)
    const changes = [...histories.values()].reduce((sum, versions) => sum + versions.length, 0)
    for (const reader of readers) reader.finish(changes)
    await Promise.all(readers.map(({ done }) => done))
    for (const [i, { seen }] of readers.entries()) model.checkFeed(`reader ${i}`, seen, histories)
    model.wrong.push(...world.broken)
    return changes
  }
}

/**
 * Plays a history that a seed decides, as far as clients that run at the same moment can be decided.
 *
 * @param {object} options
 * @param {() => Promise<import('./history-world.mjs').Mortal>} options.start the server, or the same once more after its crash; open mode
 * @param {number} options.seed
 * @param {number} options.steps of each client
 * @param {number} options.kills
 * @param {number} [options.clients]
 * @param {(line: string) => void} [options.log]
 */
export async function playHistory({ start, seed, steps, kills, clients = 8, log = () => {} }) {
  const started = performance.now()
  const world = new World(start)
  const dice = random(seed)
  // Each life of the server ends after a number of successes; the rest is the last one.
  const share = Math.max(2, Math.floor((steps * clients * 0.6) / (kills + 1)))
  let until = 1 + Math.floor(dice() * share)
  /** @type {Promise<void>[]} */
  const killing = []
  const play = new Play(world, () => {
    if (--until > 0 || killing.length >= kills) return
    until = 1 + Math.floor(dice() * 2 * share)
    killing.push(world.kill())
    log(
      `kill ${killing.length} of ${kills}: ${play.operations} operations, ${play.conflicts} conflicts, ${play.replays} replays`,
    )
  })
  try {
    const { data } = await world.call('list_changes', {})
    const readers = [
      followPages(world, data.next, random(seed * 1000 + 900)),
      followStream(world, data.next, random(seed * 1000 + 901)),
    ]
    const client = async (/** @type {number} */ number) => {
      const own = random(seed * 1000 + number)
      /** @type {Call[]} */
      const past = []
      for (let step = 0; step < steps; step++) await play.step(own, `${number}-${step}`, past)
    }
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
    await Promise.all(killing)
    const changes = await play.check(readers)
    const { operations, conflicts, refused, replays, model, ids } = play
    const { lost, doubled, wrong } = model
    const seconds = Math.round((performance.now() - started) / 1000)
    const { cuts, unanswered } = world
    return {
      ...{ operations, conflicts, refused, replays, changes, entries: ids.length },
      kills: world.kills,
      cuts,
      unanswered,
      lost,
      doubled,
      wrong,
      seconds,
    }
  } finally {
    await world.stop()
  }
}
