// Gives entries without a project one, by rewriting the volumes of a file.

import { KnownIds } from '../../domain/transfer/content-checksum'
import type { CarriedRecord, RecordOf } from '../../domain/transfer/records'
import { readVolumes } from '../../domain/transfer/volume-reader'
import { type Volume, writeVolumes } from '../../domain/transfer/volume-writer'

// The importers and the format as the command line uses them, bundled on demand (../bundle.mjs).
export { Problem } from '../../domain/errors'
export { verifyExport } from '../../domain/transfer/verify'
export { completeVolumes, readVolumes } from '../../domain/transfer/volume-reader'
export { planImport } from './plan'

export { SOURCES } from './sources'
export { SourceProblem } from './values'

/** Starts a pass over the bytes of a file. */
export type ProjectedExport = () => AsyncIterable<Uint8Array>

const withProject = <R extends RecordOf<'entry'> | RecordOf<'version'>>(record: R, project: string): R =>
  record.project === undefined ? { ...record, project, metadata: { ...record.metadata, project } } : record

async function* recordsOf(open: ProjectedExport, project: string): AsyncGenerator<CarriedRecord> {
  for await (const { record } of readVolumes(open())) {
    if (record.record === 'manifest' || record.record === 'end') continue
    yield record.record === 'entry' || record.record === 'version' ? withProject(record, project) : record
  }
}

/** @param project project of entries without one */
export async function* projectedVolumes(open: ProjectedExport, project: string): AsyncGenerator<Volume> {
  const known = new KnownIds()
  let manifest: RecordOf<'manifest'> | null = null
  for await (const { record } of readVolumes(open())) {
    if (record.record === 'manifest') manifest ??= record
    if (record.record === 'image' && record.missing === true) known.noteMissing(record.sha256)
    if (record.record === 'entry') known.note(record)
  }
  if (manifest === null) return
  const { record: _, format: __, volume: ___, ...all } = manifest
  yield* writeVolumes(all, recordsOf(open, project), known)
}
