import { holdsFrom } from '../../domain/currency/later-first'
import { contentMark, mayHoldMarkOf } from '../../domain/currency/pair'
import { hasSubject, REPLACEABLE, SUBJECT, similarityIn, subjectOf } from '../../domain/currency/subject'
import { validFrom } from '../../domain/currency/validity'
import { checkText, checkVerbatim } from '../../domain/entry/draft'
import type { Entry, EntryPreview } from '../../domain/entry/entry'
import { extractMetadata } from '../../domain/entry/extracted-metadata'
import { type Kind, kindOfMetadata, kindOfTags } from '../../domain/entry/kind'
import { linksOfMetadata } from '../../domain/entry/link'
import { type Metadata, own } from '../../domain/entry/metadata'
import { titleOf } from '../../domain/entry/title'
import { type Caller, homesOf, type Scope } from '../../domain/identity/scope'
import { note } from '../../domain/receipts/notes'
import type { Analyzer } from '../../domain/search/analysis'
import { EVERYTHING, type Filter } from '../../domain/search/filter'
import { parseQuery } from '../../domain/search/query'
import { type ScoredTerm, scoredTerms } from '../../domain/search/score'
import { firstCodePoints, sha256Hex } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { EntryStore } from '../../ports/entry-store'
import type { FullText, TextColumn } from '../../ports/full-text'
import { attempt } from '../outcome'

/** An earlier memory that a new one may replace. */
export interface Earlier {
  readonly id: number
  readonly title: string
  /** Start of its validity, in ISO 8601. */
  readonly at: string
  /** Mark of both contents (`contentMark`), to record that both memories are valid. */
  readonly mark: string
  /** Set if it has fewer readers than the new memory, so that the judgement is recorded in it; its content is first in `mark`. */
  readonly isHolder?: true
}

/** A memory that is compared with earlier ones. */
export interface NewMemory {
  /** ID of a stored memory, so that it is not compared with itself. */
  readonly id?: number
  readonly title: string | null
  readonly text: string
  /** SHA-256 of the complete text. */
  readonly textHash: string
  readonly metadata: Metadata | null
  readonly kind: Kind
  readonly project: string | null
  /** Memories that it replaces, if the writer names them. */
  readonly replaced: ReadonlySet<number>
}

/** A memory as a tool receives it. */
export interface Drafted {
  readonly text: string
  /** Whether the text is stored unchanged; otherwise it is trimmed. */
  readonly isVerbatim?: true
  readonly metadata: Metadata | null
  readonly tags: readonly string[]
}

/** Words that select candidates: the first of title and text, and the longest, because long words are rare. */
const WORDS = { first: 8, longest: 8 } as const
/** Memories that are compared and read. A word in more memories selects none. */
const CANDIDATES = { compared: 64, read: 6 } as const
const COLUMNS: readonly TextColumn[] = ['title', 'body']
const OF_KIND: Filter = { op: 'kind', anyOf: [...REPLACEABLE] }

function leading(terms: readonly ScoredTerm[]): ScoredTerm[] {
  const others = terms.slice(WORDS.first).sort((a, b) => b.term.length - a.term.length)
  return [...terms.slice(0, WORDS.first), ...others.slice(0, WORDS.longest)]
}

export type FindEarlier = ReturnType<typeof createFindEarlier>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createFindEarlier({
  entries,
  fullText,
  analyzer,
  clock,
}: {
  readonly entries: Pick<EntryStore, 'previews'>
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly clock: Clock
}) {
  /** Returns the scope of comparison: the project of the memory, or everything visible to the caller. */
  const scopeOf = (caller: Scope, { project }: Pick<NewMemory, 'project'>): Scope => ({
    ...caller,
    projects: project === null ? caller.projects : homesOf(caller, project),
  })

  /**
   * Returns the IDs of memories on the subject of a new one, most similar first.
   *
   * Returns none if the writer names the memories that it replaces. Takes one round trip that reads a bounded number of rows.
   */
  async function similar(caller: Scope, memory: NewMemory): Promise<readonly number[]> {
    const { title, text, kind, replaced } = memory
    if (replaced.size > 0 || !REPLACEABLE.has(kind) || !hasSubject(memory)) return []
    const sought = firstCodePoints(`${title ?? ''}\n${text}`, SUBJECT.codePoints).replaceAll('"', ' ')
    const query = parseQuery(sought, 'match', analyzer)
    const terms = leading(scoredTerms(query.units))
    if (terms.length === 0) return []
    const { hits } = await fullText.searchByRareWords(scopeOf(caller, memory), {
      ...{ query, terms, filter: OF_KIND, columns: COLUMNS },
      ...{ rare: CANDIDATES.compared, candidates: CANDIDATES.compared },
    })
    const own = subjectOf(title, text, analyzer)
    const similarity = similarityIn([own, ...hits.map((hit) => subjectOf(hit.title, hit.text, analyzer))])
    return hits
      .map(({ id }, i) => ({ id, similarity: similarity(0, i + 1) }))
      .filter((one) => one.similarity >= SUBJECT.named && one.id !== memory.id)
      .sort((a, b) => b.similarity - a.similarity || b.id - a.id)
      .slice(0, CANDIDATES.read)
      .map(({ id }) => id)
  }

  /** Returns the entries on the subject of a memory that are not superseded, most similar first. */
  function onSubject(
    caller: Scope,
    { project }: Pick<NewMemory, 'project'>,
    ids: readonly number[],
    read: readonly EntryPreview[],
  ): EntryPreview[] {
    const isThere = (one: string | null): boolean =>
      one === project || (one !== null && project !== null && homesOf(caller, project).includes(one))
    const mayBeReplaced = (entry: Entry): boolean =>
      REPLACEABLE.has(entry.kind) &&
      hasSubject(entry) &&
      own(entry.metadata, 'diary') !== true &&
      isThere(entry.project) &&
      entry.supersededBy === undefined
    const byId = new Map(read.filter(mayBeReplaced).map((entry) => [entry.id, entry]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** Returns the entries that a new memory may replace, most similar first. Entries valid from a later time are left out. */
  function chosen(caller: Caller, memory: NewMemory, ids: readonly number[], read: readonly EntryPreview[]): Earlier[] {
    const from = validFrom(memory.metadata) ?? clock.now()
    return onSubject(caller, memory, ids, read)
      .filter((entry) => holdsFrom(entry) <= from)
      .slice(0, SUBJECT.most)
      .map((entry) => earlierOf(caller, memory, entry))
  }

  /** Returns stored memories on the subject of a stored one, most similar first. Takes two round trips. */
  async function around(scope: Scope, memory: NewMemory): Promise<readonly EntryPreview[]> {
    const ids = await similar(scope, memory)
    if (ids.length === 0) return []
    const read = await entries.previews(scopeOf(scope, memory), EVERYTHING, ids, 200)
    return onSubject(scope, memory, ids, read).slice(0, SUBJECT.most)
  }

  /**
   * Returns the memories that a new one may replace. Takes two round trips that concurrent reads share; returns none if they
   * fail.
   */
  async function find(caller: Caller, memory: NewMemory): Promise<readonly Earlier[]> {
    const found = await attempt(async () => {
      const ids = await similar(caller, memory)
      if (ids.length === 0) return []
      return chosen(caller, memory, ids, await entries.previews(scopeOf(caller, memory), EVERYTHING, ids, 200))
    })
    return found.ok ? found.value : []
  }

  /**
   * Returns the memories that a tool's draft may replace, if its kind can be replaced.
   *
   * They are noted, so that a repeated call returns the same. Call it before the draft is stored.
   */
  async function ofDraft(caller: Caller, drafted: Drafted): Promise<readonly Earlier[]> {
    const { metadata, tags } = drafted
    // The store reports invalid metadata.
    const read = await attempt(async () => ({
      ...extractMetadata(metadata, caller, caller.agent),
      text: drafted.isVerbatim ? checkVerbatim(drafted.text, 'content') : checkText(drafted.text),
    }))
    const kind = kindOfMetadata(metadata) ?? kindOfTags(tags)
    if (!read.ok || kind === null || !REPLACEABLE.has(kind) || read.value.diary) return []
    const { title, project, text } = read.value
    const links = linksOfMetadata(metadata)
    const replaced = new Set(links.flatMap(({ relation, to }) => (relation === 'supersedes' ? [to] : [])))
    const textHash = await sha256Hex(text)
    const earlier = await find(caller, { title, text, textHash, metadata, kind, project, replaced })
    if (earlier.length === 0) return []
    note(caller, 'earlier', earlier)
    if (caller.receipt) caller.receipt.notes.mentioned = earlier.map(({ id }) => id)
    return earlier
  }

  return { similar, chosen, around, ofDraft }
}

function earlierOf(caller: Scope, memory: NewMemory, entry: EntryPreview): Earlier {
  const isHolder = !mayHoldMarkOf(caller, memory, entry)
  return {
    ...{ id: entry.id, title: titleOf(entry), at: formatSecond(holdsFrom(entry)) },
    mark: isHolder ? contentMark(entry, memory) : contentMark(memory, entry),
    ...(isHolder ? { isHolder } : {}),
  }
}
