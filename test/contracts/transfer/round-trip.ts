import { expect } from 'vitest'
import { ADMIN_TOKEN } from '../../support/access'
import { exported, fillRandomly, sent, verified } from '../../support/transfer'
import type { Place } from './place'

const ALL = 'history=true&vectors=true'

/**
 * A random store of all families' entries in every state is the same in another database, line by line, and comes back: the format's
 * `store`, `cursor`, `at` and the sealed `next` are a database's own, everything between manifest and end is equal by its bytes.
 */
export async function playRoundTrip(from: Place, to: Place, seed: number, steps: number): Promise<void> {
  const org = `seed-${from.database}-${seed}`
  await fillRandomly(from.team, org, seed, steps)
  const first = await exported(from.team, org, ALL)
  expect((await verified(first.bytes)).volumes.every(({ content, computed }) => content === computed)).toBe(true)
  await to.team.api('/orgs', ADMIN_TOKEN, 'POST', { id: org, name: org })
  const reports = await sent(to.team, org, first.bytes)
  expect(reports).toMatchObject(first.ends.map(({ content }) => ({ problems: [], map: [], content })))
  const second = await exported(to.team, org, ALL)
  expect(second.lines).toEqual(first.lines)
  for (const { entries } of await sent(to.team, org, first.bytes))
    expect(entries).toMatchObject({ stored: 0, replaced: 0, skipped: 0, refused: 0, deleted: 0 })
  expect((await exported(to.team, org, ALL)).lines).toEqual(first.lines)
}
