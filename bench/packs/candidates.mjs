// From which candidates the packs of a world are made, recorded once from a server, so that they can be chosen again in process.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { progress } from '../support/progress.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { ask } from './ask.mjs'
import { readGoals, readHistory } from './gold.mjs'
import { openWorld } from './world.mjs'

/** Sizes of the packs that are asked for. */
export const LIMITS = [12, 24]

/**
 * @typedef {object} Recorded
 * @property {Record<string, any>} entries by id
 * @property {Record<string, any[]>} vectors by id of their entry
 * @property {Record<string, string>} names of the gold set by ids
 * @property {Record<string, {found: any, ids: string[]}>} packs by `<goal> <limit>`: what was found, and what the server chose of it
 */

/** Entries and vectors are kept once: hundreds of goals find the same ones. */
function compact(found, recorded) {
  for (const entry of found.entries) recorded.entries[entry.id] ??= entry
  const vectors = {}
  for (const vector of found.vectors) vectors[vector.entryId] = [...(vectors[vector.entryId] ?? []), vector]
  for (const [id, of] of Object.entries(vectors)) recorded.vectors[id] ??= of
  return {
    ...found,
    entries: found.entries.map(({ id, beginning }) =>
      beginning === recorded.entries[id].beginning ? [id, true] : [id, false, beginning],
    ),
    vectors: Object.keys(vectors).map(Number),
  }
}

/** @returns {Promise<Recorded>} */
async function record(team, { port }) {
  const history = readHistory(team)
  const workspace = createWorkspace(undefined, 'bench/packs/candidates-worker/index.ts')
  const world = await openWorld(workspace, history, team, { target: 'workerd', port, vars: {} })
  try {
    /** @type {Recorded} */
    const recorded = { entries: {}, vectors: {}, names: {}, packs: {} }
    const goals = readGoals(team)
    const bar = progress(`${team.name}, asking`, goals.length)
    for (const goal of goals) {
      for (const limit of LIMITS) {
        const { content } = await ask.pack(world, goal, limit)
        const found = compact(await (await fetch(`${world.origin}/bench/found`)).json(), recorded)
        const ids = content.sections.flatMap(({ items }) => items.map(({ id }) => id))
        recorded.packs[`${goal.id} ${limit}`] = { found, ids }
      }
      bar.tick(1)
    }
    bar.finish(`${Object.keys(recorded.entries).length} candidates`)
    for (const id of Object.keys(recorded.entries)) recorded.names[id] = world.nameOf(id)
    return recorded
  } finally {
    await world.close()
    workspace.remove()
  }
}

/** What was recorded in a folder, or is now. @returns {Promise<Recorded>} */
export async function candidatesOf(team, { folder, port }) {
  const file = join(folder, `${team.name}.json`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, JSON.stringify(await record(team, { port })))
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}
