import { inBatches } from '../../domain/batches'
import { Problem } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import type { EntryStore } from '../../ports/entry-store'
import type { Summarizer } from '../../ports/summarizer'
import type { VectorRows } from '../../ports/vector-rows'
import type { Generate } from '../writing/entries/generate'

/** Entries whose vectors one call of the embedder computes. */
const STEP = 25

/** Bytes of text that are read together. */
const READ_AT_ONCE = 2_000_000
/** Duration after which a step ends if the model is slow, so that progress is reported. */
const STEP_MS = 20_000

/** Entries that one step checks; those with vectors cost only an index lookup. */
const STRETCH = 500
/** Maximum ID ranges that one step checks if no vectors are missing. */
const STRETCHES = 10

/** One step of a pass over entries. */
interface EmbeddingStep {
  /** Entries that got vectors. */
  readonly made: number
  /** ID where the next step starts; null after the last step. */
  readonly next: number | null
}

/** Progress of an organization. Counting reads all its vectors, so only the first and the last step report counts. */
interface Reembedding extends EmbeddingStep {
  readonly entries?: number
  readonly embedded?: number
}

interface EmbeddedInTime {
  /** Entries that got vectors. */
  readonly made: number
  /** Why some vectors are missing; null if none is. */
  readonly problem: Problem | null
}

export interface BackgroundGeneration {
  /**
   * Computes the vectors of these entries, however slow the model is; deleted entries are skipped. Stores the vectors of each
   * entry immediately.
   *
   * @param onProgress called often, so that the caller can extend its lease
   */
  embed(ids: readonly number[], onProgress?: () => Promise<void>): Promise<void>
  /** Computes vectors for a waiting search, for as many texts as the model handles in EMBEDDING_TIMEOUT_S. */
  embedInTime(ids: readonly number[]): Promise<EmbeddedInTime>
  /** Returns the UTF-16 units that the model embeds in a few seconds. */
  capacity(): number
  /** Computes the summary of one entry. @throws Problem if the provider fails */
  summarize(id: number): Promise<void>
  /** Key of the configured model as stored with vectors; null without a model. */
  readonly model: string | null
  /**
   * Computes missing vectors of the configured model for entries after an ID, in one organization, or in all for null.
   *
   * Repeated steps check every entry once.
   */
  embedNext(org: string | null, after: number): Promise<EmbeddingStep>
  /**
   * Does the same for the administrators of an organization, and reports progress.
   *
   * @throws Problem unsupported without a model
   */
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

  /** Groups entries to read and embed together; groups are small for long texts or a slow model. */
  async function groupsOf(ids: readonly number[]): Promise<number[][]> {
    const sizes = await rows.sizesOf(ids)
    const groups = inBatches(sizes, ({ bytes }) => bytes, Math.min(READ_AT_ONCE, generate.capacity()))
    return groups.map((group) => group.map(({ id }) => id))
  }

  /**
   * Embeds entries one group after the other.
   *
   * @param until time after which no group is started
   * @returns the first entry that was not started; null if all are done
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
      // Entries that did not fit into this step come first in the next one.
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
