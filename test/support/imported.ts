import { join } from 'node:path'
import { type Plan, planImport } from '../../src/cli/import/plan'
import type { EntryRecord, RecordOf } from '../../src/domain/transfer/records'
import { readVolumes } from '../../src/domain/transfer/volume-reader'
import { importSamples } from './import-samples'

export interface Imported {
  readonly plan: Plan
  readonly entries: readonly EntryRecord[]
  readonly images: readonly RecordOf<'image'>[]
  /** The only entry whose text or title starts with this. */
  readonly entry: (beginning: string) => EntryRecord
  /** Notices about a location. */
  readonly told: (where: string) => string[]
}

export interface ImportOptions {
  readonly pack?: string
  readonly project?: string
  readonly map?: Readonly<Record<string, string>>
  readonly prompts?: boolean
  /** Changes the unpacked files first. */
  readonly prepare?: (folder: string) => void
}

/** The result of importing a sample, read back from its volumes. */
export async function imported(source: string, file: string, options: ImportOptions = {}): Promise<Imported> {
  const folder = importSamples(options.pack ?? source)
  options.prepare?.(folder)
  const plan = await planImport(source, join(folder, file), {
    name: file,
    at: '2026-11-23T10:00:00.000Z',
    prompts: options.prompts === true,
    projects: { otherwise: options.project ?? null, map: new Map(Object.entries(options.map ?? {})) },
  })
  const entries: EntryRecord[] = []
  const images: RecordOf<'image'>[] = []
  const bytes = async function* () {
    for await (const volume of plan.volumes()) yield volume.bytes
  }
  for await (const { record } of readVolumes(bytes())) {
    if (record.record === 'entry') entries.push(record)
    if (record.record === 'image') images.push(record)
  }
  return {
    plan,
    entries,
    images,
    entry(beginning) {
      const found = entries.filter(({ text, metadata }) => text.startsWith(beginning) || metadata?.title === beginning)
      if (found.length !== 1 || found[0] === undefined)
        throw new Error(`${found.length} entries begin with ${beginning}`)
      return found[0]
    },
    told: (where) =>
      [...plan.refused, ...plan.notes].filter((one) => one.where.includes(where)).map(({ message }) => message),
  }
}
