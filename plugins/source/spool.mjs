// Stores events as files until a server has them; each step is one rename, so that a kill leaves no partial state (capture contract §2).
import * as fs from 'node:fs'
import { join } from 'node:path'
import { LARGEST_EVENT } from './clean.mjs'
import { kindOf } from './events.mjs'

const MOST_EVENTS = 2_000
const MOST_BYTES = 8 * 1_048_576
const LONGEST_WAIT_MS = 6 * 86_400_000
/** A sender runs for two seconds; one with an older lock was killed, and its process id may belong to another. */
const OLDEST_LOCK_MS = 10_000
/** Age of an abandoned draft; drafts are written within milliseconds. */
const OLDEST_DRAFT_MS = 60_000
const NAME = /^\d{13}-[0-9a-f]{64}\.json$/

export const folderOf = (home) => join(home, '.commonplace')

/** A whole file or none. */
export function writeWhole(file, text) {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.draft`
  fs.writeFileSync(draft, text, { mode: 0o600 })
  fs.renameSync(draft, file)
  return true
}

const quietly = (work, otherwise) => {
  try {
    return work()
  } catch {
    return otherwise
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function openSpool(home) {
  const own = folderOf(home)
  const folder = join(own, 'spool')
  const [lock, lostFile, stateFile] = ['sender.lock', 'lost', 'state.json'].map((name) => join(own, name))
  quietly(() => fs.mkdirSync(folder, { recursive: true, mode: 0o700 }))

  const filesIn = (where) => quietly(() => fs.readdirSync(where), [])
  const names = () =>
    filesIn(folder)
      .filter((name) => NAME.test(name))
      .sort()
  const remove = (name) => quietly(() => fs.rmSync(join(folder, name), { force: true }))
  /** @returns {{ client: string, id: string, at: number, event: Record<string, any>, place: object } | null} null if the file does not exist */
  const read = (name) => quietly(() => JSON.parse(fs.readFileSync(join(folder, name), 'utf8')), null)

  /** Counted by id before it is deleted, so that a killed program never counts one twice. */
  const lose = (name) => {
    quietly(() => fs.appendFileSync(lostFile, `${name.slice(14, 78)}\n`, { mode: 0o600 }))
    remove(name)
  }
  const lostIds = () =>
    new Set(
      quietly(() => fs.readFileSync(lostFile, 'utf8'), '')
        .split('\n')
        .filter(Boolean),
    )

  /** Drops the oldest tool events first, then the oldest of all. */
  const bound = (now) => {
    const all = names()
    const old = all.filter((name) => Number(name.slice(0, 13)) < now - LONGEST_WAIT_MS)
    for (const name of old) lose(name)
    const waiting = all.slice(old.length)
    if (waiting.length * LARGEST_EVENT <= MOST_BYTES) return
    const sizes = new Map(
      waiting.map((name) => [name, fs.statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0]),
    )
    let [count, bytes] = [waiting.length, [...sizes.values()].reduce((sum, size) => sum + size, 0)]
    if (count <= MOST_EVENTS && bytes <= MOST_BYTES) return
    const isTool = new Map(waiting.map((name) => [name, kindOf(read(name)?.event ?? {}) === 'tool']))
    for (const name of [...waiting.filter((one) => isTool.get(one)), ...waiting.filter((one) => !isTool.get(one))]) {
      if (count <= MOST_EVENTS && bytes <= MOST_BYTES) return
      lose(name)
      count--
      bytes -= sizes.get(name)
    }
  }

  return {
    names,
    read,
    remove,
    lose,
    bound,
    lost: () => lostIds().size,
    /** @returns the name of its file; that of the waiting one if two hooks report the same event; null if none can be written */
    put(record) {
      const all = names()
      const there = all.find((name) => name.includes(record.id))
      if (there !== undefined) return there
      const name = `${String(record.at).padStart(13, '0')}-${record.id}.json`
      if (!quietly(() => writeWhole(join(folder, name), JSON.stringify(record)), false)) return null
      if (all.length * LARGEST_EVENT >= MOST_BYTES) bound(record.at)
      return name
    },
    /** The stored state of the server: last response, start of the outage, and its cause. */
    state: () => quietly(() => JSON.parse(fs.readFileSync(stateFile, 'utf8')), {}),
    remember: (state) => quietly(() => writeWhole(stateFile, JSON.stringify(state))),
    /** Called when losses were reported to the server and the user. */
    forgetLost: () => quietly(() => fs.rmSync(lostFile, { force: true })),
    /** Deletes drafts of killed programs. */
    sweep(now) {
      for (const [where, name] of [folder, own].flatMap((at) => filesIn(at).map((one) => [at, one])))
        if (
          name.endsWith('.draft') &&
          (fs.statSync(join(where, name), { throwIfNoEntry: false })?.mtimeMs ?? now) < now - OLDEST_DRAFT_MS
        )
          fs.rmSync(join(where, name), { force: true })
    },
    /** @returns {(() => void) | null} a function that releases the lock; null while another program sends */
    takeLock(now) {
      const mine = `${process.pid} ${now} ${Math.random()}`
      const take = () =>
        quietly(() => {
          fs.writeFileSync(lock, mine, { flag: 'wx', mode: 0o600 })
          return () => {
            if (quietly(() => fs.readFileSync(lock, 'utf8'), '') === mine) fs.rmSync(lock, { force: true })
          }
        }, null)
      const taken = take()
      if (taken !== null) return taken
      const held = quietly(() => fs.readFileSync(lock, 'utf8'), '')
      const since = Number(held.split(' ')[1]) || (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now)
      if (Math.abs(now - since) < OLDEST_LOCK_MS && isAlive(Number(held.split(' ')[0]))) return null
      // If two find a dead lock, one renames it; a renamed live lock is put back.
      const aside = `${lock}.${process.pid}.draft`
      quietly(() => fs.renameSync(lock, aside), null)
      if (!fs.existsSync(aside)) return null
      if (quietly(() => fs.readFileSync(aside, 'utf8'), '') !== held) quietly(() => fs.linkSync(aside, lock), null)
      fs.rmSync(aside, { force: true })
      return take()
    },
  }
}

/** An empty lock file counts as live until it is old. */
function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}
