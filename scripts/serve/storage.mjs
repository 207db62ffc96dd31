// Checks the data folder: the runtime reports problems only in its own log, so this checks the disk and that log,
// for the terminal, and for the Worker (src/adapters/d1/hosted.ts), which reports them to callers.
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

/** Miniflare's folder of D1. */
const DATABASES = join('v3', 'd1', 'miniflare-D1DatabaseObject')
const DATABASE = /^[0-9a-f]{64}\.sqlite$/
const HEADER = 'SQLite format 3\0'

/**
 * Reserved for reading and deleting when the disk is full, in bytes. SQLite writes a little to read (its index of the write-ahead log,
 * temporary tables); a delete writes 150 to 320 KB, so the reserve grows to the needs of 100 deletes if the disk has four times as much space.
 */
const RESERVE = { least: 2_000_000, most: 32_000_000, share: 4 }
/** Free space, in addition to the reserve, from which a disk no longer counts as full. */
const ROOM_AGAIN = 1_000_000
/** If a file of this size can be written, so can an entry. */
const PROBE = Buffer.alloc(65_536)
/** The runtime's log arrives through another channel than its failure. */
const LOG_MS = 150
/** Messages older than this belong to another failure. */
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

/** @param {string} path @returns {number} -1 if it does not exist */
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

/** @param {string} path of a database @returns {boolean} false also if it cannot be determined */
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
 * Monitors the data folder of a server.
 *
 * @param {string} state
 * @param {(line: string) => void} tell receives each change, once
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function watchStorage(state, tell) {
  const folder = join(state, DATABASES)
  const [marker, reserve] = [join(state, 'commonplace.json'), join(state, 'reserve')]
  /** @type {{ fault: Fault, at: number } | null} */
  let heard = null
  /** Free bytes from which the disk no longer counts as full; null while it is not full. @type {number | null} */
  let wanted = null
  /** @type {Fault | null} */
  let told = null
  let toldByLog = false
  /** The checked database file, by inode. @type {{ file: number, fault: Fault | null } | null} */
  let checked = null
  /** The runtime opened a file read-only, and does not reopen it. */
  let opened = false

  const room = () => {
    const { bavail, bsize } = statfsSync(state)
    return bavail * bsize
  }

  /** @returns {{ database: string, since: string, reserve?: number | boolean } | null} the record of an earlier server here */
  function known() {
    try {
      return JSON.parse(readFileSync(marker, 'utf8'))
    } catch {
      return null
    }
  }

  /** @returns {string | undefined} the file of the database; the newest, if there are several */
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
      // A server that was stopped in its first moments leaves an empty file without a record.
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
   * Creates the reserve, or lets it grow.
   *
   * @param {number} share fraction of the free space that it may use: a quarter, or all of it if the disk was full before
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
   * Returns whether SQLite finds the database file damaged. It reads the complete file once, a second for some 300 MB, and again only
   * if the file is replaced.
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

  /** @returns {Fault | null} a problem that is visible on the disk */
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
      `The disk of ${state} is full: entries can be read and deleted, but not stored or changed until there is free space.`,
    readonly: () =>
      `${state} is not writable, so its database cannot be used: give the user of this server write permission, and restart it.`,
    damaged: () =>
      `The database ${database()} is damaged. Stop the server, save a copy of ${state}, and restore an intact database.`,
    foreign: () =>
      `${database()} is not a database of this server, or its header is damaged. It was not changed. Restore the right file, or use another folder: --persist-to FOLDER`,
    missing: () =>
      `The database ${database()} is missing or empty, although ${state} had one (since ${known()?.since ?? 'an earlier release'}). ` +
      `No new one was created: restore it, or start with a new store (--persist-to FOLDER, or remove ${state}).`,
    failing: () => `The disk of ${state} fails to read or write, or the database cannot be opened.`,
  })

  /** @param {Fault | null} fault @param {boolean} byLog the problem is not visible on the disk, nor is its end */
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
      // The reserve was released, and the free space has not grown.
      const kept = before?.reserve === true ? RESERVE.least : Number(before?.reserve ?? 0)
      if (kept > 0 && sizeOf(reserve) < RESERVE.least && room() < kept + ROOM_AGAIN) wanted = kept + ROOM_AGAIN
      return note(inspect())
    },

    /** Records that a store is served from here, so that a missing database is reported. */
    confirm() {
      const path = database()
      if (path === undefined || sizeOf(path) <= 0) return
      const before = known()
      const facts = {
        about:
          'This folder contains a store of Commonplace. While this file exists, a missing database is not replaced with a new one.',
        database: path.slice(folder.length + 1),
        since: before?.since ?? new Date().toISOString(),
        reserve: wanted === null ? keepReserve() : (before?.reserve ?? 0),
      }
      try {
        writeFileSync(marker, `${JSON.stringify(facts, null, 2)}\n`)
      } catch {
        // The next check reports why it cannot be written.
      }
    },

    /** @param {string} message of the runtime's log @returns {boolean} whether it was reported in our words instead */
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
     * @param {Fault | 'empty' | null} [seen] the fault that the call reported
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
