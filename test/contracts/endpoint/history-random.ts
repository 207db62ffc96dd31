import { expect, it } from 'vitest'
import { playHistory } from '../../../bench/faults/history-play.mjs'
import { World } from '../../../bench/faults/history-world.mjs'
import { backend } from './session'

/** Of each of the eight clients; HISTORY_STEPS=40 plays longer, HISTORY_KILLS=9 with more deaths, HISTORY_SEED=7 another history. */
const { HISTORY_STEPS, HISTORY_KILLS, HISTORY_SEED: seed = '1' } = process.env

/** Eight clients at once, compared with their answers (history contract §5). Longer: `node bench/faults/history.mjs`. */
export function historyRandomContract(given = { steps: 8, kills: 2 }): void {
  const { steps = given.steps, kills = given.kills } = { steps: HISTORY_STEPS, kills: HISTORY_KILLS }
  it('[HISTORY-53, HISTORY-56] loses and duplicates nothing while eight clients write and repeat calls, answers are dropped and the server is killed', async () => {
    const server = await backend().mortal()
    try {
      const played = await playHistory({
        ...{ start: server.start, seed: Number(seed), steps: Number(steps), kills: Number(kills) },
      })
      const { lost, doubled, wrong } = played
      expect([seed, lost, doubled, wrong]).toEqual([seed, [], [], []])
      expect([played.kills, played.unanswered > 0, played.replays > 0]).toEqual([Number(kills), true, true])
    } finally {
      await server.drop()
    }
  })

  it('has one server at a time, however many kills come at once, and none after the end', async () => {
    const lives: string[] = []
    const world = new World(async () => {
      lives.push('born')
      await Promise.resolve()
      return { origin: '', crash: async () => void lives.push('dead') }
    })
    const kills = [world.kill(), world.kill()]
    await world.stop()
    await Promise.all(kills)
    expect(lives).toEqual(['born', 'dead', 'born', 'dead', 'born', 'dead'])
  })
}
