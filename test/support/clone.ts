import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build'

/** Clones the committed state into a new folder, with the packages of this checkout. */
export function cloneCheckout(folder: string): string {
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, folder])
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
