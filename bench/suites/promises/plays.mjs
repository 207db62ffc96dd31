// Implicit promises of a team's memory, each counted on a new store with two agents.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const NOTES = 50
const LINES = 25
const KILLS = 10

/** @typedef {{ open: import('./peers.mjs').Peer['open'], folder: string, erases: boolean }} World */
/** @typedef {{ measure: string, of: number, count: number | null, note: string }} Outcome `count` null: the system has no such call */

const settle = async (work) => {
  const done = await Promise.allSettled(work)
  return done.map(({ status }) => status === 'fulfilled')
}

async function inTurn(items, run) {
  const outcomes = []
  for (const item of items) outcomes.push(...(await settle([run(item)])))
  return outcomes
}

/** Both agents store notes of their own at once; each as fast as it is answered. */
async function together({ open, folder }) {
  const agents = [await open(folder), await open(folder)]
  const names = agents.map((_, agent) => Array.from({ length: NOTES }, (_, at) => `note-${agent}-${at}`))
  const told = await Promise.all(
    agents.map((agent, who) => inTurn(names[who], (name) => agent.store(name, `words of ${name}`))),
  )
  const acknowledged = names.flatMap((own, who) => own.filter((_, at) => told[who][at]))
  let lost = 0
  for (const name of acknowledged) {
    const read = await Promise.all(agents.map((agent) => agent.read(name).catch(() => '')))
    if (!read.join('').includes(`words of ${name}`)) lost += 1
  }
  for (const agent of agents) await agent.close()
  const refused = 2 * NOTES - acknowledged.length
  return [
    {
      measure: 'lost: stored by two at once',
      of: 2 * NOTES,
      count: lost,
      note: refused > 0 ? `${refused} refused` : '',
    },
  ]
}

/** Both agents add lines to one memory at once. */
async function updates({ open, folder }) {
  const agents = [await open(folder), await open(folder)]
  await agents[0].store('shared', 'the first line')
  const lines = agents.map((_, agent) => Array.from({ length: LINES }, (_, at) => `line-${agent}-${at}.`))
  const told = await Promise.all(agents.map((agent, who) => inTurn(lines[who], (line) => agent.append('shared', line))))
  const acknowledged = lines.flatMap((own, who) => own.filter((_, at) => told[who][at]))
  const read = (await Promise.all(agents.map((agent) => agent.read('shared').catch(() => '')))).join('')
  const lost = acknowledged.filter((line) => !read.includes(line)).length
  for (const agent of agents) await agent.close()
  const refused = 2 * LINES - acknowledged.length
  return [
    {
      measure: 'lost: lines two add to one memory',
      of: 2 * LINES,
      count: lost,
      note: refused > 0 ? `${refused} refused` : '',
    },
  ]
}

/** A call whose answer was lost is made again, as a client does. */
async function doubled({ open, folder }) {
  const agent = await open(folder)
  for (let at = 0; at < 10; at++) {
    await agent.store(`again-${at}`, `sent twice number ${at}.`)
    await agent.store(`again-${at}`, `sent twice number ${at}.`).catch(() => {})
  }
  let twice = 0
  for (let at = 0; at < 10; at++) {
    const copies = (await agent.read(`again-${at}`)).split(`sent twice number ${at}.`).length - 1
    if (copies > 1) twice += 1
  }
  await agent.close()
  return [{ measure: 'doubled: a store made again', of: 10, count: twice, note: '' }]
}

/** The server is killed right after an answer. */
async function killed({ open, folder }) {
  const acknowledged = []
  for (let round = 0; round < KILLS; round++) {
    const agent = await open(folder)
    for (let at = 0; at < 5; at++) {
      const name = `kill-${round}-${at}`
      const [done] = await settle([agent.store(name, `kept ${name}.`)])
      if (done) acknowledged.push(name)
    }
    await agent.kill()
  }
  const agent = await open(folder)
  let lost = 0
  for (const name of acknowledged) if (!(await agent.read(name).catch(() => '')).includes(`kept ${name}.`)) lost += 1
  await agent.close()
  const refused = 5 * KILLS - acknowledged.length
  const note = refused > 0 ? `${refused} refused` : ''
  return [{ measure: 'lost: acknowledged, then kill -9', of: 5 * KILLS, count: lost, note }]
}

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )

const onDisk = (folder, word) =>
  filesBelow(folder).some((file) => statSync(file).size > 0 && readFileSync(file).includes(word))

/** Counts deleted and erased memories, ten of each, that are still returned or still on the disk. */
async function deleted({ open, folder, erases }) {
  const agent = await open(folder)
  const made = async (kind) => {
    for (let at = 0; at < 10; at++) await agent.store(`${kind}-${at}`, `${kind} holds walnutcase${kind}${at} within.`)
  }
  await made('gone')
  for (let at = 0; at < 10; at++) await agent.remove(`gone-${at}`)
  let told = 0
  for (let at = 0; at < 10; at++) {
    const found = `${await agent.find(`walnutcasegone${at}`)}${await agent.read(`gone-${at}`).catch(() => '')}`
    if (found.includes('holds walnutcase')) told += 1
  }
  if (erases) {
    await made('erased')
    for (let at = 0; at < 10; at++) await agent.erase(`erased-${at}`)
  }
  await agent.close()
  const lie = (kind) =>
    Array.from({ length: 10 }, (_, at) => onDisk(folder, `walnutcase${kind}${at}`)).filter(Boolean).length
  return [
    { measure: 'told after delete', of: 10, count: told, note: '' },
    { measure: 'on the disk after delete', of: 10, count: lie('gone'), note: erases ? 'kept to be restored' : '' },
    {
      measure: 'on the disk after erase',
      of: 10,
      count: erases ? lie('erased') : null,
      note: erases ? '' : 'no such call',
    },
  ]
}

/** @type {readonly { measures: readonly string[], run: (world: World) => Promise<Outcome[]> }[]} `measures` in the order of the outcomes */
export const PLAYS = [
  { measures: ['lost: stored by two at once'], run: together },
  { measures: ['lost: lines two add to one memory'], run: updates },
  { measures: ['doubled: a store made again'], run: doubled },
  { measures: ['lost: acknowledged, then kill -9'], run: killed },
  { measures: ['told after delete', 'on the disk after delete', 'on the disk after erase'], run: deleted },
]
