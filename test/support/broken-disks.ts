// File systems of a test's own that are full or read-only. Only root may mount one, and not in every container.
import { spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface OwnDisk {
  readonly folder: string
  /** Fills all free space. */
  fill(): void
  /** Frees the space that `fill` used. */
  empty(): void
  readOnly(): void
  drop(): void
}

/** @returns null where mounting is not allowed; the end of the test run reports that */
export function ownDisk(megabytes: number): OwnDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-disk-'))
  const mount = (...args: string[]) => spawnSync('mount', args).status === 0
  if (!mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder)) {
    rmSync(folder, { recursive: true })
    const { COMMONPLACE_TEST_NOTES: notes } = process.env
    if (notes !== undefined)
      appendFileSync(notes, 'Not tested: a full or read-only disk, since nothing may be mounted here.\n')
    return null
  }
  const filling = join(folder, 'filling')
  return {
    folder,
    fill() {
      const file = openSync(filling, 'a')
      for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2))
        try {
          for (const part = Buffer.alloc(size); ; ) if (writeSync(file, part) < part.length) break
        } catch {
          // The disk is full.
        }
      closeSync(file)
    },
    empty: () => rmSync(filling, { force: true }),
    readOnly: () => void mount('-o', 'remount,ro', folder),
    drop() {
      spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
