import { bothHold } from '../../domain/currency/later-first'
import type { MemoryPair, Verdict } from '../../domain/currency/pair'
import { contentMark, isOneProject, judgementPatch, mayHoldMarkOf } from '../../domain/currency/pair'
import type { Entry, EntryPreview } from '../../domain/entry/entry'
import { diaryOf, expiryOf } from '../../domain/entry/extracted-metadata'
import { titleOf } from '../../domain/entry/title'
import { invalidInput, noSuchEntry } from '../../domain/errors'
import type { Caller, Scope } from '../../domain/identity/scope'
import { EVERYTHING } from '../../domain/search/filter'
import { firstCodePoints } from '../../domain/text'
import type { EntryStore } from '../../ports/entry-store'
import type { MemoryPairs, PairQuery } from '../../ports/memory-pairs'
import { done, onlyValue } from '../outcome'
import type { Remember } from '../pack/remember'
import type { UpdateEntries } from '../writing/entries/update-entries'

/** A pair that awaits a judgement. */
export interface StalePair {
  readonly later: EntryPreview
  readonly earlier: EntryPreview
  /** Verdict of the optional model on these contents; null for none. */
  readonly verdict: Verdict | null
}

export interface StalePairPage {
  readonly pairs: readonly StalePair[]
  /** Cursor of the next page; null at the end. */
  readonly next: MemoryPair | null
}

/** Resolutions of a pair: the later memory replaces the earlier one, both are valid, or one memory replaces both. */
export const RESOLUTIONS = ['replaces', 'both_hold', 'merge'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Code points of each text in the list. */
const PREVIEW = 600
const MOST_TITLE = 200

const isHeldBack = ({ captured, metadata }: Entry): boolean => captured || diaryOf(metadata)

export type StalePairs = ReturnType<typeof createStalePairs>

/** Lists unresolved pairs of memories on one subject, and resolves them. */
export function createStalePairs({
  pairs,
  entries,
  updateEntries,
  remember,
}: {
  readonly pairs: Pick<MemoryPairs, 'list' | 'judge'>
  readonly entries: Pick<EntryStore, 'previews' | 'read'>
  readonly updateEntries: UpdateEntries
  readonly remember: Remember
}) {
  async function merge(caller: Caller, later: Entry, earlier: Entry): Promise<number> {
    const ends = [later, earlier].flatMap(({ metadata }) => expiryOf(metadata) ?? [])
    const { id } = await remember(caller, {
      title: firstCodePoints(titleOf(later), MOST_TITLE),
      content: `${later.text}\n\n${earlier.text}`,
      kind: later.kind,
      ...(later.project === null ? {} : { project: later.project }),
      ...(ends.length === 0 ? {} : { metadata: { expires_at: new Date(Math.min(...ends)).toISOString() } }),
      tags: [...new Set([...later.tags, ...earlier.tags])],
      related_to: [`supersedes:${later.id}`, `supersedes:${earlier.id}`],
      ...{ from: [later.id, earlier.id], sumsUp: true, diary: false },
    })
    return id
  }

  return {
    /** Lists pairs whose later memory the caller can change and whose earlier one it can read, the newest later one first. */
    async list(scope: Scope, query: PairQuery): Promise<StalePairPage> {
      const found = await pairs.list(scope, { ...query, limit: query.limit + 1 })
      const page = found.slice(0, query.limit)
      const ids = [...new Set(page.flatMap(({ later, earlier }) => [later, earlier]))]
      const read = await entries.previews(scope, EVERYTHING, ids, PREVIEW)
      const byId = new Map(read.map((one) => [one.id, one]))
      const last = found.length > query.limit ? page.at(-1) : undefined
      return {
        pairs: page.flatMap((pair): StalePair[] => {
          const [later, earlier] = [byId.get(pair.later), byId.get(pair.earlier)]
          if (later === undefined || earlier === undefined || bothHold(later, earlier)) return []
          return [{ later, earlier, verdict: pair.judged === contentMark(later, earlier) ? pair.verdict : null }]
        }),
        next: last === undefined ? null : { later: last.later, earlier: last.earlier },
      }
    },

    /**
     * Resolves a pair.
     *
     * @returns the ID of the valid memory: the later one, or the merged one
     * @throws Problem invalid_input if the two cannot be a pair; not_found if the caller cannot read both, or cannot change the later one
     */
    async resolve(caller: Caller, pair: MemoryPair, as: Resolution): Promise<number> {
      const read = new Map((await entries.read(caller, [pair.later, pair.earlier])).map((one) => [one.id, one]))
      const [later, earlier] = [read.get(pair.later), read.get(pair.earlier)]
      if (later === undefined || earlier === undefined)
        throw noSuchEntry(later === undefined ? pair.later : pair.earlier)
      // Neither text becomes readable in another project, or without its review.
      const isPair = isOneProject(caller, later, earlier) && ![later, earlier].some(isHeldBack)
      if (!isPair)
        throw invalidInput('A pair has two memories of one project, without captured sessions and diary pages')
      if (as === 'merge') return merge(caller, later, earlier)
      const [holder, other] =
        as === 'replaces' || mayHoldMarkOf(caller, later, earlier) ? [later, earlier] : [earlier, later]
      const judgement = as === 'replaces' ? { replaces: [other.id], bothHold: [] } : { replaces: [], bothHold: [other] }
      const metadataPatch = judgementPatch(holder.metadata, holder, judgement)
      const draft = { id: holder.id, expectedVersion: holder.version, metadataPatch }
      onlyValue(await updateEntries(caller, [done(draft)], true))
      if (as === 'both_hold') await pairs.judge({ org: caller.org, ...pair }, 'both_hold', contentMark(later, earlier))
      return later.id
    },
  }
}
