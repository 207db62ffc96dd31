import type { WriteLimits } from '../../domain/entry/draft'
import { detectImageType } from '../../domain/entry/image'
import { limitExceeded, Problem } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import { scheduler } from '../../domain/scheduler'
import type { EntryStore } from '../../ports/entry-store'
import type { ImageStore } from '../../ports/image-store'
import type { ImportStore } from '../../ports/import-store'
import { type ImportReport, noteProblem } from './report'
import type { Picture, VolumeInHand } from './volume-in-hand'

export interface ImageDependencies {
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly images: ImageStore
  /** The bytes of an image that a backup has kept. */
  readonly spare: (org: string, hash: string) => Promise<Uint8Array | null>
  readonly entries: Pick<EntryStore, 'imageRemovals'>
  readonly limits: WriteLimits
}

export interface IncomingImages {
  /** Those that have no bytes, neither in the volume nor here: they are left off their entries. */
  readonly missing: ReadonlySet<string>
  /** Puts the bytes that are not here. @returns the removals that these are not touched by */
  put(): Promise<readonly number[]>
}

function refusalOf({ images, limits }: ImageDependencies, bytes: Uint8Array): Problem | null {
  if (images.refusal !== null) return new Problem('unsupported', images.refusal)
  if (detectImageType(bytes) === null)
    return new Problem('invalid_input', 'The image is not a PNG, JPEG, GIF or WebP image; it is left off')
  if (bytes.length > limits.each) return limitExceeded(`The image is larger than ${limits.each} bytes; it is left off`)
  return null
}

/** Finds out which images of a volume come, which are here and which are nowhere; writes nothing. */
export async function lookAtImages(
  on: ImageDependencies,
  caller: Caller,
  volume: VolumeInHand,
  report: ImportReport,
): Promise<IncomingImages> {
  const { seen: here, hidden } = await on.imports.imagesInUse(caller, [...volume.images])
  const comes = new Map<string, Picture>()
  for (const picture of volume.pictures.splice(0)) {
    const { line, hash, bytes } = picture
    if (here.has(hash)) continue
    const problem = refusalOf(on, bytes)
    if (problem === null) comes.set(hash, picture)
    else noteProblem(report, line, null, problem)
  }
  const missing = new Set<string>()
  const kept = new Set<string>()
  for (const hash of new Set([...volume.images, ...here])) {
    if (comes.has(hash)) continue
    // An earlier volume of the same file may have brought it, or a backup, which is the whole org's, has kept it beside its volumes. What
    // stands in nothing but others' entries is for the importer as if it were nowhere.
    if (here.has(hash) || (!hidden.has(hash) && (await on.images.get(caller, hash)) !== null)) report.images.present++
    else {
      const mayHave = caller.isWhole === true && on.images.refusal === null
      const spare = mayHave ? await on.spare(caller.org, hash) : null
      if (spare !== null && refusalOf(on, spare) === null) kept.add(hash)
      else missing.add(hash)
    }
  }
  report.images.stored = comes.size + kept.size
  report.images.missing = missing.size
  return {
    missing,
    async put() {
      const removals = volume.images.size === 0 ? [] : await on.entries.imageRemovals(caller, [...volume.images])
      for (const [hash, { bytes }] of comes) {
        const mimeType = detectImageType(bytes)
        if (mimeType !== null) await on.images.put(caller, { hash, mimeType, bytes })
        comes.delete(hash)
        await scheduler.tick(bytes.length)
      }
      for (const hash of kept) {
        const bytes = await on.spare(caller.org, hash)
        const mimeType = bytes === null ? null : detectImageType(bytes)
        if (bytes !== null && mimeType !== null) await on.images.put(caller, { hash, mimeType, bytes })
      }
      return removals
    },
  }
}
