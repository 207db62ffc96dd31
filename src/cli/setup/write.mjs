// How is a file of a person's written, so that nothing of it is ever lost?
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

/** Links of links that are followed; more are a circle. */
const MOST_LINKS = 40

/** Where a file really stands, also where a link leads to nothing yet. */
function targetOf(file) {
  let target = file
  for (let links = 0; lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink(); links++) {
    if (links === MOST_LINKS) throw new Unreadable('its links lead in a circle')
    target = resolve(dirname(target), readlinkSync(target))
  }
  return target
}

/**
 * A whole file or none: a program that reads it meanwhile sees the old one.
 *
 * @param {boolean} isSecret whether it holds a key, which nobody else may read then
 */
export function write(file, text, isSecret) {
  const target = targetOf(file)
  mkdirSync(dirname(target), { recursive: true })
  const isThere = existsSync(target)
  if (isThere) copyFileSync(target, `${target}.bak`)
  const draft = `${target}.${process.pid}.new`
  const mode = isThere && !isSecret ? statSync(target).mode & 0o777 : 0o600
  writeFileSync(draft, text, { mode })
  // The mode of a new file is less what the process leaves out.
  chmodSync(draft, mode)
  renameSync(draft, target)
}
