// What is wrong with the folder of the data? The runtime says it to nobody but its own log, so it is asked of the disk and of that log:
// for the terminal, and for the Worker (src/adapters/d1/hosted.ts), which tells its callers.
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** @typedef {import('../../src/ports/storage-host.ts').StorageFault} Fault */

/** Null on a Node.js without it. */
const sqlite = await import('node:sqlite').catch(() => null)

/** Where Miniflare keeps D1. */
const DATABASES = join('v3', 'd1', 'miniflare-D1DatabaseObject')
const DATABASE = /^[0-9a-f]{64}\.sqlite$/
const HEADER = 'SQLite format 3\0'

/**
 * Kept free for reading and deleting where the disk is full, in bytes. SQLite writes a little to read (its index of the write-ahead log,
 * temporary tables); a delete writes 150 to 320 KB, so the reserve grows to what 100 of them need where the disk has four times as much room.
 */
const RESERVE = { least: 2_000_000, most: 32_000_000, share: 4 }
/** Room, beside what the reserve takes again, with which a disk is full no more. */
const ROOM_AGAIN = 1_000_000
/** A file of this size can be written where an entry can. */
const PROBE = Buffer.alloc(65_536)
/** The runtime's log comes by another way than its failure. */
const LOG_MS = 150
/** What it said so long ago is about something else. */
const RECENT_MS = 5_000

/** @type {readonly (readonly [RegExp, Fault])[]} */
const HEARD = [
  [/SQLITE_FULL|SQLITE_IOERR_SHMSIZE/, 'full'],
  [/SQLITE_READONLY/, 'readonly'],
  [/SQLITE_CORRUPT/, 'damaged'],
  [/SQLITE_NOTADB/, 'foreign'],
  [/SQLITE_(IOERR|CANTOPEN)/, 'failing'],
]

/** @type {Record<string, Fault>} */
const CODES = { ENOSPC: 'full', EDQUOT: 'full', EROFS: 'readonly', EACCES: 'readonly', EPERM: 'readonly' }

/** @param {unknown} error @returns {Fault} */
const faultOf = (error) => CODES[/** @type {NodeJS.ErrnoException} */ (error).code ?? ''] ?? 'failing'

/** @param {string} path @returns {number} -1 where there is none */
const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? -1

/** @param {string} path */
function beginningOf(path) {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(HEADER.length)
    readSync(file, bytes, 0, bytes.length, 0)
    return bytes.toString('latin1')
  } finally {
    closeSync(file)
  }
}

/** @param {string} path of a database @returns {boolean} false also where that cannot be found out */
function isDamaged(path) {
  if (sqlite === null) return false
  try {
    const file = new sqlite.DatabaseSync(path, { readOnly: true })
    try {
      const [row] = file.prepare('PRAGMA quick_check(1)').all()
      return row?.quick_check !== 'ok'
    } finally {
      file.close()
    }
  } catch (error) {
    return /malformed/i.test(/** @type {Error} */ (error).message)
  }
}

/**
 * Looks after the folder of a server's data.
 *
 * @param {string} state
 * @param {(line: string) => void} tell of each change, once
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function watchStorage(state, tell) {
  const folder = join(state, DATABASES)
  const [marker, reserve] = [join(state, 'commonplace.json'), join(state, 'reserve')]
  /** @type {{ fault: Fault, at: number } | null} */
  let heard = null
  /** Bytes that have to be free before the disk counts as one with room; null while it is not full. @type {number | null} */
  let wanted = null
  /** @type {Fault | null} */
  let told = null
  let toldByLog = false
  /** The file of the database that was checked, by its number. @type {{ file: number, fault: Fault | null } | null} */
  let checked = null
  /** The runtime has opened a file for reading alone, and keeps it so. */
  let opened = false

  const room = () => {
    const { bavail, bsize } = statfsSync(state)
    return bavail * bsize
  }

  /** @returns {{ database: string, since: string, reserve?: number | boolean } | null} what was noted when a store was served from here */
  function known() {
    try {
      return JSON.parse(readFileSync(marker, 'utf8'))
    } catch {
      return null
    }
  }

  /** @returns {string | undefined} the file of the database; the newest, where others were served from here before */
  function database() {
    const named = known()?.database
    if (named !== undefined) return join(folder, named)
    try {
      return readdirSync(folder)
        .filter((name) => DATABASE.test(name))
        .map((name) => join(folder, name))
        .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0]
    } catch {
      return undefined
    }
  }

  /** @returns {Fault | null} */
  function fileFault() {
    const path = database()
    if (path === undefined) return null
    try {
      // A server that was stopped in its first moments leaves an empty file, and nothing that says it held anything.
      if (sizeOf(path) <= 0) return known() !== null || sizeOf(`${path}-wal`) > 0 ? 'missing' : null
      return beginningOf(path) === HEADER ? null : 'foreign'
    } catch (error) {
      return faultOf(error)
    }
  }

  /** @returns {Fault | null} whether a file can be written */
  function writeFault() {
    const probe = join(state, `probe-${process.pid}`)
    try {
      mkdirSync(state, { recursive: true })
      writeFileSync(probe, PROBE)
      return null
    } catch (error) {
      return faultOf(error)
    } finally {
      try {
        rmSync(probe, { force: true })
      } catch {
        // It could not be written either.
      }
    }
  }

  function giveUpReserve() {
    try {
      const kept = sizeOf(reserve)
      rmSync(reserve, { force: true })
      wanted = (kept >= RESERVE.least ? kept : room()) + ROOM_AGAIN
    } catch {
      wanted = ROOM_AGAIN
    }
  }

  /**
   * Takes the reserve, or lets it grow.
   *
   * @param {number} share of the room that it may take: a quarter, all of it where the disk was full before
   * @returns {number} its bytes
   */
  function keepReserve(share = RESERVE.share) {
    try {
      const kept = Math.max(sizeOf(reserve), 0)
      const size = Math.min(RESERVE.most, Math.floor((room() + kept) / share))
      if (size >= RESERVE.least && size > kept) writeFileSync(reserve, Buffer.alloc(size))
      return Math.max(sizeOf(reserve), 0)
    } catch {
      rmSync(reserve, { force: true })
      return 0
    }
  }

  /** @param {Fault | null} written @returns {Fault | null} */
  function fullness(written) {
    if (wanted === null && written === 'full') giveUpReserve()
    if (wanted === null) return null
    if (written === 'full' || room() < wanted) return 'full'
    wanted = null
    keepReserve(2)
    return null
  }

  /**
   * Whether SQLite finds the file of the database damaged. It reads all of the file once, a second for some 300 MB, and again only
   * when another file takes its place.
   *
   * @returns {Fault | null}
   */
  function damage() {
    const path = database()
    const file = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
    if (path === undefined || file === undefined || file.size === 0) return null
    if (file.ino === checked?.file) return checked.fault
    checked = { file: file.ino, fault: isDamaged(path) ? 'damaged' : null }
    return checked.fault
  }

  /** @returns {Fault | null} what the disk shows */
  function inspect() {
    try {
      const written = writeFault()
      return (
        fileFault() ??
        damage() ??
        fullness(written) ??
        (written === 'full' ? null : written) ??
        (opened ? 'readonly' : null)
      )
    } catch (error) {
      return faultOf(error)
    }
  }

  const LINES = /** @type {Record<Fault, () => string>} */ ({
    full: () =>
      `The disk of ${state} is full: reading and deleting go on, nothing can be stored or changed until there is room.`,
    readonly: () =>
      `${state} cannot be written to, so its database cannot be used: allow that to the user of this server, and start it again.`,
    damaged: () =>
      `The database ${database()} is damaged. Stop the server, keep a copy of ${state}, and bring back one that is whole.`,
    foreign: () =>
      `${database()} is no database of this server, or its beginning is damaged. It is left as it is; bring the right one back, or take other data: --persist-to FOLDER`,
    missing: () =>
      `The database ${database()} is gone or empty, although ${state} held a store (since ${known()?.since ?? 'an earlier release'}). ` +
      `It is not replaced: bring it back, or, to begin anew, take other data (--persist-to FOLDER) or remove ${state}.`,
    failing: () => `The disk of ${state} fails to read or write, or does not let the database be opened.`,
  })

  /** @param {Fault | null} fault @param {boolean} byLog what the disk does not show does not show either when it is over */
  function note(fault, byLog = false) {
    if (fault === null && told !== null && toldByLog) return null
    toldByLog = byLog
    if (fault !== told) tell(fault === null ? `The data in ${state} can be used again.` : `! ${LINES[fault]()}`)
    told = fault
    return fault
  }

  return {
    /** @returns {Fault | null} what is wrong before the runtime is started */
    begin() {
      const before = known()
      // The reserve was given up, and what that left has not become more.
      const kept = before?.reserve === true ? RESERVE.least : Number(before?.reserve ?? 0)
      if (kept > 0 && sizeOf(reserve) < RESERVE.least && room() < kept + ROOM_AGAIN) wanted = kept + ROOM_AGAIN
      return note(inspect())
    },

    /** A store is served from here: from now on it does not vanish in silence. */
    confirm() {
      const path = database()
      if (path === undefined || sizeOf(path) <= 0) return
      const before = known()
      const facts = {
        about:
          'A store of Commonplace is kept in this folder. While this file says so, no new one takes the place of one that is gone.',
        database: path.slice(folder.length + 1),
        since: before?.since ?? new Date().toISOString(),
        reserve: wanted === null ? keepReserve() : (before?.reserve ?? 0),
      }
      try {
        writeFileSync(marker, `${JSON.stringify(facts, null, 2)}\n`)
      } catch {
        // What keeps it from being written is told by the next look.
      }
    },

    /** @param {string} message of the runtime's log @returns {boolean} whether it is told in these words instead */
    heard(message) {
      const [, fault] = HEARD.find(([name]) => name.test(message)) ?? []
      if (fault === undefined || !message.includes('workerd/')) return false
      heard = { fault, at: Date.now() }
      opened ||= fault === 'readonly'
      if (fault === 'full' && wanted === null) giveUpReserve()
      return true
    },

    /**
     * @param {boolean} failed whether a call has just failed
     * @param {Fault | 'empty' | null} [seen] what that itself has told
     * @returns {Promise<Fault | null>}
     */
    async report(failed, seen = null) {
      if (seen === 'empty' && known() !== null) return note('missing', true)
      if (seen !== null && seen !== 'empty') heard = { fault: seen, at: Date.now() }
      const shown = inspect()
      if (shown !== null || !failed) return note(shown)
      await new Promise((resolve) => setTimeout(resolve, LOG_MS))
      const fault = heard !== null && Date.now() - heard.at < RECENT_MS ? heard.fault : null
      const now = inspect()
      return note(now ?? fault, now === null)
    },
  }
}
