// Writes a user's file without ever losing its content.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Unreadable } from './merge.mjs'

/** Limit of chained links; more are a cycle. */
const MOST_LINKS = 40

/** Returns the real path of a file, also if a link points to a missing file. */
function targetOf(file) {
  let target = file
  for (let links = 0; lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    if (links === MOST_LINKS) throw new Unreadable('its links form a cycle')
    target = resolve(dirname(target), readlinkSync(target))
  }
  return target
}

/**
 * Replaces a file atomically: a program that reads it meanwhile gets the old one.
 *
 * @param {boolean} isSecret whether it contains a key, so that only the user may read it
 */
export function write(file, text, isSecret) {
  const target = targetOf(file)
  mkdirSync(dirname(target), { recursive: true })
  const isThere = existsSync(target)
  if (isThere) copyFileSync(target, `${target}.bak`)
  const draft = `${target}.${process.pid}.new`
  const mode = isThere && !isSecret ? statSync(target).mode & 0o777 : 0o600
  writeFileSync(draft, text, { mode })
  // The mode of a new file is reduced by the umask of the process.
  chmodSync(draft, mode)
  renameSync(draft, target)
}
