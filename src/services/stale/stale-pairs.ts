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
import type { JudgedPair, MemoryPairs, PairQuery } from '../../ports/memory-pairs'
import type { MemoryUsage } from '../capture/memory-usage'
import { done, onlyValue } from '../outcome'
import type { Remember } from '../pack/remember'
import type { UpdateEntries } from '../writing/entries/update-entries'

/** A pair that awaits a judgement. */
export interface StalePair {
  readonly later: EntryPreview
  readonly earlier: EntryPreview
  /** Verdict of the optional model on these contents; null for none. */
  readonly verdict: Verdict | null
  /** Number of sessions of the last 180 days to which hooks showed the earlier memory. */
  readonly shown: number
}

/** The place of a pair in the list. */
export interface PairPlace extends MemoryPair {
  readonly shown: number
}

export interface StalePairPage {
  readonly pairs: readonly StalePair[]
  /** Cursor of the next page; null at the end. */
  readonly next: PairPlace | null
}

/** Resolutions of a pair: the later memory replaces the earlier one, both are valid, or one memory replaces both. */
export const RESOLUTIONS = ['replaces', 'both_hold', 'merge'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Newest pairs among which the list is ordered. */
const LISTED = 1_000
/** Code points of each text in the list. */
const PREVIEW = 600
const MOST_TITLE = 200
/** Maximum count of pairs. */
const MOST_COUNTED = 100

/** Orders pairs by how often the earlier memory was shown; of equal ones the newest later memory comes first. */
const inOrder = (a: PairPlace, b: PairPlace): number => b.shown - a.shown || b.later - a.later || b.earlier - a.earlier

const isHeldBack = ({ captured, metadata }: Entry): boolean => captured || diaryOf(metadata)

export type StalePairs = ReturnType<typeof createStalePairs>

/** Lists unresolved pairs of memories on one subject, and resolves them. */
export function createStalePairs({
  pairs,
  usage,
  entries,
  updateEntries,
  remember,
}: {
  readonly pairs: Pick<MemoryPairs, 'list' | 'judge'>
  readonly usage: Pick<MemoryUsage, 'ofAll'>
  readonly entries: Pick<EntryStore, 'previews' | 'read'>
  readonly updateEntries: UpdateEntries
  readonly remember: Remember
}) {
  /** Returns the newest unresolved pairs in the order of the list. */
  async function ordered(scope: Scope, project: string | null): Promise<(JudgedPair & PairPlace)[]> {
    const [found, uses] = await Promise.all([pairs.list(scope, { project, limit: LISTED }), usage.ofAll(scope)])
    return found.map((pair) => ({ ...pair, shown: uses.get(pair.earlier)?.shown ?? 0 })).sort(inOrder)
  }

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
    /**
     * Lists pairs whose later memory the caller can change and whose earlier one it can read. Pairs whose earlier memory was
     * shown most often come first.
     */
    async list(
      scope: Scope,
      { project, after, limit }: PairQuery & { readonly after: PairPlace | null },
    ): Promise<StalePairPage> {
      const all = await ordered(scope, project)
      const found = after === null ? all : all.filter((pair) => inOrder(after, pair) < 0)
      const page = found.slice(0, limit)
      const ids = [...new Set(page.flatMap(({ later, earlier }) => [later, earlier]))]
      const read = await entries.previews(scope, EVERYTHING, ids, PREVIEW)
      const byId = new Map(read.map((one) => [one.id, one]))
      const last = found.length > limit ? page.at(-1) : undefined
      return {
        pairs: page.flatMap((pair): StalePair[] => {
          const [later, earlier] = [byId.get(pair.later), byId.get(pair.earlier)]
          if (later === undefined || earlier === undefined || bothHold(later, earlier)) return []
          const verdict = pair.judged === contentMark(later, earlier) ? pair.verdict : null
          return [{ later, earlier, verdict, shown: pair.shown }]
        }),
        next: last === undefined ? null : { shown: last.shown, later: last.later, earlier: last.earlier },
      }
    },

    /** Counts pairs that the list may show, and those that a model judged to contradict; at most 100. */
    async waiting(scope: Scope): Promise<{ readonly pairs: number; readonly contradictions: number }> {
      const found = await pairs.list(scope, { project: null, limit: MOST_COUNTED })
      return {
        pairs: found.length,
        contradictions: found.filter(({ verdict }) => verdict === 'contradicts').length,
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
