import { inBatches } from '../../domain/batches'
import { Problem } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import type { EntryStore } from '../../ports/entry-store'
import type { Summarizer } from '../../ports/summarizer'
import type { VectorRows } from '../../ports/vector-rows'
import type { Generate } from '../writing/entries/generate'

/** Entries whose vectors are made in one call of the embedder. */
const STEP = 25

/** Text that is read at once, in bytes. */
const READ_AT_ONCE = 2_000_000
/** A pass ends its step after so long, where the model is slow: whoever asked for it is told how far it came. */
const STEP_MS = 20_000

/** Entries that one step looks at; those that have vectors cost a look at an index. */
const STRETCH = 500
/** Stretches of one step at most, where nothing is missing. */
const STRETCHES = 10

/** One step of a pass over entries. */
interface EmbeddingStep {
  /** Entries whose vectors were made. */
  readonly made: number
  /** Where the next step begins; null when this was the last. */
  readonly next: number | null
}

/** How much of an org has vectors. It reads all of them, so only the first step of a pass and the last tell it. */
interface Reembedding extends EmbeddingStep {
  readonly entries?: number
  readonly embedded?: number
}

interface EmbeddedInTime {
  /** Entries whose vectors were made. */
  readonly made: number
  /** Why some are missing; null when none is. */
  readonly problem: Problem | null
}

export interface BackgroundGeneration {
  /**
   * Makes the vectors of these entries, however slow the model is; those that are gone meanwhile are passed over. Each entry has its
   * own as soon as they are made.
   *
   * @param onProgress called often, so that whoever claimed the work can hold on to it
   */
  embed(ids: readonly number[], onProgress?: () => Promise<void>): Promise<void>
  /** The same for a search that waits, of texts that `capacity` holds: what the model manages in EMBEDDING_TIMEOUT_S. */
  embedInTime(ids: readonly number[]): Promise<EmbeddedInTime>
  /** UTF-16 units that the model embeds in a few seconds. */
  capacity(): number
  /** Makes the summary of one entry. @throws Problem when the provider fails */
  summarize(id: number): Promise<void>
  /** The configured model, as its vectors are stored; null when there is none. */
  readonly model: string | null
  /**
   * Makes vectors of the configured model for some of the entries after an id that have none: of one org, or of all for null.
   * A pass of such steps looks at every entry once.
   */
  embedNext(org: string | null, after: number): Promise<EmbeddingStep>
  /** The same for the administrators of an org, and how far that is. @throws Problem unsupported without a model */
  reembed(org: string, after: number): Promise<Reembedding>
}

export function createBackgroundGeneration(dependencies: {
  readonly generate: Generate
  readonly summarizer: Summarizer | null
  readonly rows: VectorRows
  readonly summaries: Pick<EntryStore, 'summarize'>
  readonly now: () => Millis
}): BackgroundGeneration {
  const { generate, summarizer, rows, summaries, now } = dependencies

  /** Entries that are read and embedded at once: few where their texts are long or the model is slow. */
  async function groupsOf(ids: readonly number[]): Promise<number[][]> {
    const sizes = await rows.sizesOf(ids)
    const groups = inBatches(sizes, ({ bytes }) => bytes, Math.min(READ_AT_ONCE, generate.capacity()))
    return groups.map((group) => group.map(({ id }) => id))
  }

  /**
   * Some entries after the other.
   *
   * @param until nothing more is begun after it
   * @returns the first that was not begun; null when all are done
   */
  async function embedIds(
    ids: readonly number[],
    onProgress?: () => Promise<void>,
    until = Number.POSITIVE_INFINITY,
  ): Promise<number | null> {
    for (const [i, group] of (await groupsOf(ids)).entries()) {
      if (i > 0 && now() >= until) return group[0] ?? null
      const entries = await rows.textsOf(group)
      const vectors = await generate.embedTexts(entries, onProgress)
      for (const [n, entry] of entries.entries()) await rows.replace(entry, vectors[n] ?? [])
    }
    return null
  }

  async function embedNext(org: string | null, after: number): Promise<EmbeddingStep> {
    const { model } = generate
    if (model === null) return { made: 0, next: null }
    let from = after
    const until = now() + STEP_MS
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const { missing, last } = await rows.unembedded(org, model, from, STRETCH)
      const ids = missing.slice(0, STEP)
      const stopped = ids.length > 0 ? await embedIds(ids, undefined, until) : null
      if (stopped !== null) return { made: ids.indexOf(stopped), next: stopped - 1 }
      // What did not fit into this step comes first in the next one.
      const next = missing.length > STEP ? (ids.at(-1) as number) : last
      if (ids.length > 0 || next === null) return { made: ids.length, next }
      from = next
    }
    return { made: 0, next: from }
  }

  return {
    async embed(ids, onProgress) {
      for (let i = 0; i < ids.length; i += STEP) await embedIds(ids.slice(i, i + STEP), onProgress)
    },

    async embedInTime(ids) {
      let made = 0
      for (const group of await groupsOf(ids)) {
        const entries = await rows.textsOf(group)
        const { vectors, problem } = await generate.embedInTime(entries)
        for (const [n, entry] of entries.entries()) {
          const own = vectors[n]
          if (!own) continue
          await rows.replace(entry, own)
          made++
        }
        if (problem !== null) return { made, problem }
      }
      return { made, problem: null }
    },

    capacity: () => generate.capacity(),

    async summarize(id) {
      if (summarizer === null) throw new Problem('unavailable', 'SUMMARY_PROVIDER is none')
      const [entry] = await rows.textsOf([id])
      if (entry === undefined) return
      await summaries.summarize(entry, await summarizer.summarize(entry.text, entry.source))
    },

    model: generate.model,

    embedNext,

    async reembed(org, after) {
      const { model } = generate
      if (model === null) throw new Problem('unsupported', 'Semantic search is switched off')
      const step = await embedNext(org, after)
      return after === 0 || step.next === null ? { ...step, ...(await rows.coverage(org, model)) } : step
    },
  }
}
