import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { promise } from '../../requirements/history'
import { startTeam, type Team } from '../../support/access'
import { backend, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at freely
type Json = any

const CLIENTS = 8
/** Of each client; HISTORY_STEPS=25 plays longer. */
const STEPS = Number(process.env.HISTORY_STEPS ?? 8)
const SEED = Number(process.env.HISTORY_SEED ?? 1)

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32's recurrence). */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Eight clients at once, checked against what they were told (history contract §5). HISTORY_SEED=7 plays another history. */
export function historyRandomContract(): void {
  describe(`a random history, HISTORY_SEED=${SEED}`, () => {
    let team: Team
    let key: string
    beforeAll(async () => {
      team = await startTeam({ RATE_LIMIT_PER_MINUTE: '0' }, (vars) => backend().start(vars))
      key = (await team.key(unique('org'), { name: 'all', owner: 'ada' })).key
    })
    afterAll(() => team.stop())
    const call = async (name: string, args: Json): Promise<Json> => {
      const { data, isError } = await team.call(key, name, args)
      return { data, isError }
    }

    it(promise('h5-random'), async () => {
      const ids: number[] = []
      /** Successes by entry: each is exactly one version. */
      const acknowledged = new Map<number, number>()
      /** Versions that were won under expected_version: nobody else may have made one of the same number. */
      const won = new Set<string>()
      const cursor = (await call('list_changes', {})).data.next
      const note = (id: number) => acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1)
      const client = async (number: number) => {
        const next = numbers(SEED * 1000 + number)
        for (let step = 0; step < STEPS; step++) {
          const idempotency_key = `${number}-${step}`
          const pick = next()
          const id = ids[Math.floor(next() * ids.length)]
          let name = 'store_context'
          let args: Json = {
            thread_id: `t${number}-${step}`,
            source: 'agent',
            text: `${number} ${step}`,
            idempotency_key,
          }
          if (id !== undefined && pick > 0.35) {
            const seen = (await call('get_context_by_ids', { context_ids: [id] })).data.result[0]?.version
            name = pick > 0.92 ? 'restore_context' : pick > 0.84 ? 'delete_context' : 'update_context'
            const expected = next() > 0.5 && seen !== undefined ? { expected_version: seen } : {}
            args =
              name === 'update_context'
                ? { context_id: id, text: `by ${number} at ${step}`, ...expected, idempotency_key }
                : { context_ids: [id], ...(name === 'delete_context' ? expected : {}), idempotency_key }
          }
          // A dropped answer: the call is made again, at the same moment or later, with its key.
          const tries = next() > 0.7 ? [call(name, args), call(name, args)] : [call(name, args)]
          const answers = await Promise.all(tries)
          const good = answers.find(({ isError }) => !isError)
          if (good === undefined) continue
          const again = await call(name, args)
          expect({ ...again.data, replayed: true }).toEqual({ ...good.data, replayed: true })
          if (name === 'store_context') {
            ids.push(good.data.context_id)
            note(good.data.context_id)
          } else if (name === 'update_context') {
            note(id as number)
            if (args.expected_version !== undefined) {
              expect(good.data.version).toBe(args.expected_version + 1)
              const mark = `${id} ${good.data.version}`
              expect(won.has(mark)).toBe(false)
              won.add(mark)
            }
          } else if (name === 'delete_context') {
            if (good.data.deleted_count === 1) note(id as number)
          } else for (const { context_id } of good.data.restored) note(context_id)
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)))
      const standing: string[] = []
      for (const id of ids) {
        const { current_version, deleted, total } = (await call('get_context_history', { context_id: id })).data
        // Every acknowledged write is a version, and there is no version that nobody was told of.
        expect([id, current_version, total]).toEqual([id, acknowledged.get(id), acknowledged.get(id)])
        if (!deleted) standing.push(`${id} v${current_version}`)
      }
      const told = new Map<number, string>()
      for (let after = cursor; ; ) {
        const { changes, next, hasMore } = (await call('list_changes', { after, limit: 200 })).data
        for (const { context_id: id, action, version } of changes)
          if (action === 'deleted') told.delete(id)
          else told.set(id, `${id} v${version}`)
        if (!hasMore) break
        after = next
      }
      expect([...told.values()].sort()).toEqual(standing.sort())
    })
  })
}
