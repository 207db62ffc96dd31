import { Problem } from '../domain/errors'
import type { EntryStore } from '../ports/entry-store'
import type { Summarizer } from '../ports/summarizer'
import type { Unembedded, VectorRows } from '../ports/vector-rows'
import type { Generate } from './generate'

/** Entries whose vectors are made in one call of the embedder. */
const STEP = 25

export interface BackgroundGeneration {
  /** Makes the vectors of these entries; those that are gone meanwhile are passed over. */
  embed(ids: readonly number[]): Promise<void>
  /** Makes the summary of one entry. @throws Problem when the provider fails */
  summarize(id: number): Promise<void>
  /**
   * Makes vectors of the configured model for the next entries that have none.
   *
   * @returns the last id that was looked at, or null when no entry after it is without
   */
  reembed(afterId: number): Promise<{ readonly upTo: number; readonly made: number } | null>
}

export function createBackgroundGeneration(dependencies: {
  readonly generate: Generate
  readonly summarizer: Summarizer | null
  readonly rows: VectorRows
  readonly summaries: Pick<EntryStore, 'summarize'>
}): BackgroundGeneration {
  const { generate, summarizer, rows, summaries } = dependencies

  async function embedEntries(entries: readonly Unembedded[]): Promise<void> {
    const vectors = await generate.embedTexts(entries.map(({ text }) => text))
    for (const [i, entry] of entries.entries()) await rows.replace(entry, vectors[i] ?? [])
  }

  return {
    async embed(ids) {
      for (let i = 0; i < ids.length; i += STEP) await embedEntries(await rows.textsOf(ids.slice(i, i + STEP)))
    },

    async summarize(id) {
      if (summarizer === null) throw new Problem('unavailable', 'SUMMARY_PROVIDER is none')
      const [entry] = await rows.textsOf([id])
      if (entry === undefined) return
      await summaries.summarize(entry, await summarizer.summarize(entry.text, entry.source))
    },

    async reembed(afterId) {
      if (generate.model === null) return null
      const entries = await rows.unembedded(generate.model, afterId, STEP)
      const last = entries.at(-1)
      if (last === undefined) return null
      await embedEntries(entries)
      return { upTo: last.id, made: entries.length }
    },
  }
}
