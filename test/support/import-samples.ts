import { mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ROOT } from './build'

/** Modification time of unpacked files, which importers use where a source has no times. */
export const FILE_TIME = '2026-11-20T12:00:00.000Z'

/**
 * Unpacks the sample files of a system (test/fixtures/import/README.md) into a new folder.
 * @returns the folder
 */
export function importSamples(system: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-samples-'))
  const pack: Record<string, string> = JSON.parse(
    gunzipSync(readFileSync(join(ROOT, 'test', 'fixtures', 'import', `${system}.json.gz`))).toString(),
  )
  const time = new Date(FILE_TIME)
  for (const [name, bytes] of Object.entries(pack)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from(bytes, 'latin1'))
    utimesSync(file, time, time)
  }
  return folder
}
