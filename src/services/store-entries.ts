import { type EntryDraft, type PreparedEntry, prepareEntry } from '../domain/draft'
import type { ImageLimits } from '../domain/image'
import type { Principal } from '../domain/scope'
import type { EntryStore } from '../ports/entry-store'
import type { ImageStore } from '../ports/image-store'
import { uploadImages } from './image-transfer'
import { attempt, done, type Outcome, withRetries } from './outcome'

export interface StoredEntry {
  readonly id: number
  readonly threadId: string
  readonly version: number
  readonly isNew: boolean
  readonly images: number
}

interface Dependencies {
  readonly entries: EntryStore
  readonly images: ImageStore
  readonly limits: ImageLimits
}

export type StoreEntries = ReturnType<typeof createStoreEntries>

export function createStoreEntries({ entries, images, limits }: Dependencies) {
  async function prepareAll(principal: Principal, drafts: readonly Outcome<EntryDraft>[]) {
    let spent = 0
    const prepared: Outcome<PreparedEntry>[] = []
    for (const draft of drafts) {
      const outcome = draft.ok ? await attempt(() => prepareEntry(principal, draft.value, limits, spent)) : draft
      if (outcome.ok) spent += outcome.value.images.reduce((sum, image) => sum + image.size, 0)
      prepared.push(outcome)
    }
    return prepared
  }

  /**
   * Stores entries: images first, since a put may be repeated, then all rows in one batch. With `atomic`, one bad draft
   * means that nothing is stored: the bad ones come back with their problem, the others as null.
   *
   * @throws Problem when a dependency fails; then nothing is stored and the same call may be made again
   */
  return async (
    principal: Principal,
    drafts: readonly Outcome<EntryDraft>[],
    atomic: boolean,
  ): Promise<Outcome<StoredEntry | null>[]> => {
    const prepared = await prepareAll(principal, drafts)
    const good = prepared.flatMap((outcome) => (outcome.ok ? [outcome.value] : []))
    const failed = prepared.length - good.length
    if (good.length === 0 || (atomic && failed > 0))
      return prepared.map((outcome) => (outcome.ok ? done(null) : outcome))

    const saved = await withRetries(5, async () => {
      await uploadImages(
        images,
        principal,
        good.flatMap((one) => one.images),
      )
      return entries.save(
        principal,
        good.map((one) => one.entry),
      )
    })
    let next = 0
    return prepared.map((outcome) => {
      if (!outcome.ok) return outcome
      const row = saved[next++] as (typeof saved)[number]
      return done({ ...row, threadId: outcome.value.entry.threadId, images: outcome.value.images.length })
    })
  }
}
