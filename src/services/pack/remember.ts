import type { Entry } from '../../domain/entry/entry'
import type { LinkTarget } from '../../domain/entry/link'
import type { CapturedAt } from '../../domain/entry/selection'
import { titleOf } from '../../domain/entry/title'
import { noSuchEntry, Problem } from '../../domain/errors'
import { type Caller, homesOf, type Scope } from '../../domain/identity/scope'
import { nearDuplicateQuery, sameTitleQuery } from '../../domain/pack/near-duplicate-query'
import { isNearDuplicate, type Shape, shapeOf } from '../../domain/pack/near-duplicates'
import {
  noWiderThan,
  type RememberArguments,
  type Remembered,
  readFrom,
  readRemembered,
  withTextOf,
} from '../../domain/pack/remember'
import { differingFields, type EqualMemory } from '../../domain/recall/duplicates'
import { note } from '../../domain/receipts/notes'
import type { Analyzer } from '../../domain/search/analysis'
import { EVERYTHING } from '../../domain/search/filter'
import type { TextQuery } from '../../domain/search/query'
import { sha256Hex, trim, WHITE_SPACE_RUN } from '../../domain/text'
import type { EntryStore } from '../../ports/entry-store'
import type { FullText, TextColumn, TextHit } from '../../ports/full-text'
import type { Memories } from '../../ports/memories'
import type { Earlier, FindEarlier } from '../currency/find-earlier'
import { done, onlyValue } from '../outcome'
import type { StoreEntries } from '../writing/entries/store-entries'
import { type StoredEntry, VECTORS_LATER } from '../writing/entries/store-entries'
import { createStoreOnce } from '../writing/entries/store-once'

/** An entry with nearly the same text or the same title as the stored one. */
export interface Conflict {
  readonly id: number
  readonly title: string
  readonly reason: string
}

export interface StoredMemory {
  readonly id: number
  /** Whether an equal memory existed: same title, text, kind, project, owner and audience. */
  readonly existing: boolean
  readonly kind: string
  readonly project: string | null
  readonly links: readonly LinkTarget[]
  readonly conflicts: readonly Conflict[]
  /** Number of further compared entries with nearly the same text. */
  readonly furtherConflicts: number
  /** Earlier memories on the same subject, the most similar first. */
  readonly mayReplace: readonly Earlier[]
  readonly warnings: readonly string[]
}

/** Entries that are compared with a new one, by title and by text. */
const COMPARED = { candidates: 40, complete: 0 } as const
const MAX_CONFLICTS = 10

/** A memory before its write. */
export interface PlannedMemory
  extends Pick<StoredMemory, 'kind' | 'project' | 'links' | 'conflicts' | 'furtherConflicts' | 'mayReplace'> {
  /** The equal memory that existed, with warnings about differences; null for a new one. */
  readonly equal: { readonly id: number; readonly warnings: readonly string[] } | null
}

/**
 * Builds the result for a memory.
 *
 * @param planned the memory before its write
 * @param stored the new entry; null if an equal memory existed
 */
export const rememberedAs = (
  { equal, ...planned }: PlannedMemory,
  stored: Pick<StoredEntry, 'id' | 'made' | 'warnings'> | null,
): StoredMemory => {
  const { id, made, warnings } = stored ?? { id: equal?.id ?? 0, made: [], warnings: [] }
  return {
    ...{ ...planned, id, existing: stored === null },
    conflicts: planned.conflicts.filter((conflict) => conflict.id !== id),
    mayReplace: stored === null ? [] : planned.mayReplace,
    warnings: [...(equal?.warnings ?? []), ...warnings, ...storeWarnings(planned, made)],
  }
}

const storeWarnings = (
  { furtherConflicts }: Pick<StoredMemory, 'furtherConflicts'>,
  made: StoredEntry['made'],
): string[] => [
  ...(made.includes('embedding queued') ? [VECTORS_LATER] : []),
  ...(furtherConflicts === 0
    ? []
    : [`conflicts names the newest ${MAX_CONFLICTS}; at least ${furtherConflicts} more may say the same`]),
]

/** Returns the IDs of the memories in the answer. */
const mentionedIn = ({ conflicts, mayReplace }: PlannedMemory): number[] => [
  ...new Set([...conflicts, ...mayReplace].map(({ id }) => id)),
]

/** Returns the arguments of a repeated call that differ from the equal memory. */
function differences({ draft, links }: Remembered, equal: EqualMemory): string[] {
  const metadata = differingFields(equal, { metadata: draft.metadata ?? {} })
  const missing = links.map(({ relation, to }) => `${relation}:${to}`).filter((link) => !equal.links.has(link))
  const others = [
    ...metadata,
    ...(missing.length === 0 ? [] : [`links (${missing.join(', ')})`]),
    ...((draft.images ?? []).length === 0 ? [] : ['images']),
  ]
  return [
    ...(others.length === 0
      ? []
      : [`This memory already exists and keeps its own ${others.join(', ')}; change them with update_context`]),
    ...(equal.supersededBy === undefined
      ? []
      : [`This memory already exists and is superseded by ${equal.supersededBy}: packs leave it out`]),
  ]
}

export type Remember = ReturnType<typeof createRemember>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRemember({
  storeEntries,
  entries,
  fullText,
  memories,
  analyzer,
  findEarlier,
}: {
  readonly storeEntries: StoreEntries
  readonly entries: Pick<EntryStore, 'previews' | 'read'>
  readonly fullText: FullText
  readonly memories: Pick<Memories, 'equals'>
  readonly analyzer: Analyzer
  readonly findEarlier: FindEarlier
}) {
  const storeOnce = createStoreOnce({ memories, storeEntries })

  async function alike(
    scope: Scope,
    query: TextQuery | null,
    columns: readonly TextColumn[],
  ): Promise<readonly TextHit[]> {
    if (query === null) return []
    const { hits } = await fullText.search(scope, { query, terms: [], filter: EVERYTHING, columns, depth: COMPARED })
    return hits
  }

  const sameName = (a: string, b: string): boolean =>
    trim(a.replace(WHITE_SPACE_RUN, ' ')).toLowerCase() === trim(b.replace(WHITE_SPACE_RUN, ' ')).toLowerCase()

  function reasonOf(hit: TextHit, { title, draft }: Remembered, shape: Shape): string | null {
    const text = hit.text !== '' && isNearDuplicate(shapeOf(hit.text, analyzer), shape)
    const named = hit.title !== '' && sameName(hit.title, title)
    if (text && named) return hit.text === draft.text ? 'same title and text' : 'same title and nearly the same text'
    return text ? 'nearly the same text' : named ? 'same title' : null
  }

  /**
   * Finds entries of the same kind and project that are not superseded and have nearly the same text or the same title, and
   * earlier ones on the subject. Takes two round trips.
   */
  async function conflictsWith(
    caller: Caller,
    memory: Remembered,
    textHash: string,
  ): Promise<Pick<StoredMemory, 'conflicts' | 'furtherConflicts' | 'mayReplace'>> {
    const { title, draft, kind, project, links } = memory
    const replaced = new Set(links.flatMap(({ relation, to }) => (relation === 'supersedes' ? [to] : [])))
    const isThere = (one: string | null): boolean =>
      one === project || (one !== null && project !== null && homesOf(caller, project).includes(one))
    const collides = (entry: Entry): boolean =>
      entry.kind === kind && isThere(entry.project) && entry.supersededBy === undefined && !replaced.has(entry.id)
    const scope = { ...caller, projects: project === null ? caller.projects : homesOf(caller, project) }
    const metadata = draft.metadata ?? null
    const stored = { title, text: draft.text, textHash, metadata, kind, project, replaced }
    const isDiary = draft.metadata?.diary === true
    // All queries start together to share a round trip.
    const [similar, ...found] = await Promise.all([
      isDiary ? [] : findEarlier.similar(caller, stored),
      alike(scope, sameTitleQuery(title, analyzer), ['title']),
      alike(scope, nearDuplicateQuery(draft.text, analyzer), ['title', 'body', 'context']),
    ])
    const shape = shapeOf(draft.text, analyzer)
    const reasons = new Map<number, string>()
    for (const hit of new Map(found.flat().map((one) => [one.id, one])).values()) {
      const reason = reasonOf(hit, memory, shape)
      if (reason !== null) reasons.set(hit.id, reason)
    }
    const ids = [...new Set([...reasons.keys(), ...similar])]
    const read = await entries.previews(scope, EVERYTHING, ids, 200)
    const all = read.filter((entry) => reasons.has(entry.id) && collides(entry)).sort((a, b) => b.id - a.id)
    return {
      conflicts: all
        .slice(0, MAX_CONFLICTS)
        .map((entry) => ({ id: entry.id, title: titleOf(entry), reason: reasons.get(entry.id) as string })),
      furtherConflicts: Math.max(0, all.length - MAX_CONFLICTS),
      mayReplace: findEarlier.chosen(caller, stored, similar, read),
    }
  }

  /** Names the ID of a link target that cannot be read. */
  async function namingTheMissing(caller: Caller, links: readonly LinkTarget[], error: unknown): Promise<never> {
    if (error instanceof Problem && error.code === 'not_found' && links.length > 0) {
      const ids = links.map(({ to }) => to)
      const known = new Set((await entries.read(caller, ids)).map(({ id }) => id))
      const missing = ids.find((id) => !known.has(id))
      if (missing !== undefined) throw noSuchEntry(missing)
    }
    throw error
  }

  /** Reads the arguments. Without `content`, uses the text of the first entry in `from`, with no more readers than that entry. */
  async function read(caller: Caller, given: RememberArguments): Promise<Remembered> {
    const memory = readRemembered(caller, given)
    if (given.content !== undefined) {
      if (given.sumsUp !== true) return memory
      return readRemembered(caller, noWiderThan(await entries.read(caller, readFrom(given.from ?? [])), given))
    }
    const [first] = readFrom(given.from ?? [])
    const [entry] = await entries.read(caller, [first as number])
    if (entry === undefined) throw noSuchEntry(first as number)
    return readRemembered(caller, withTextOf(entry, given))
  }

  /**
   * Stores a memory with its links, all or nothing, and reports possible conflicts. Takes three round trips.
   *
   * If an equal memory exists (same title, text, kind, project, owner and audience), only its tags are extended.
   *
   * @param replaces captured entries that it replaces in the same batch
   * @throws Problem invalid_input that lists every problem, not_found for a link that the caller cannot read, conflict if a
   *   replaced entry has changed
   * @example
   * await services.packs.remember(caller, { title: 'Tokens rotate', content: 'Access tokens last 15 minutes.', kind: 'decision', project: 'ferry' })
   */
  return async (caller: Caller, given: RememberArguments, replaces?: readonly CapturedAt[]): Promise<StoredMemory> => {
    const memory = await read(caller, given)
    const { draft, kind, project, links } = memory
    // A diary page, and a memory that replaces captured sessions, is always stored.
    const isComparable = replaces === undefined && draft.metadata?.diary !== true
    const lookUp = isComparable ? await storeOnce.equals(caller, [draft], true) : async () => []
    const [found, known] = await Promise.all([conflictsWith(caller, memory, await sha256Hex(draft.text)), lookUp()])
    let planned: PlannedMemory = { kind, project, links, ...found, equal: null }
    const plan = ([equal = null]: readonly (EqualMemory | null)[]) => {
      planned = { ...planned, equal: equal && { id: equal.id, warnings: differences(memory, equal) } }
      note(caller, 'remembered', planned)
      if (caller.receipt) caller.receipt.notes.mentioned = mentionedIn(planned)
    }
    if (!isComparable) plan([])
    const storing = isComparable
      ? storeOnce.store(caller, [draft], { known, byName: true, plan })
      : storeEntries(caller, [done(draft)], { atomic: true, dedupe: false, replaces })
    const outcomes = await storing.catch((error: unknown) => namingTheMissing(caller, links, error))
    return rememberedAs(planned, planned.equal === null ? onlyValue(outcomes) : null)
  }
}
