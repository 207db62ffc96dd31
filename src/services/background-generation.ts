import { Problem } from '../domain/errors'
import type { EntryStore } from '../ports/entry-store'
import type { Settings } from '../ports/settings'
import type { Summarizer } from '../ports/summarizer'
import type { Unembedded, VectorRows } from '../ports/vector-rows'
import type { Generate } from './generate'

/** Entries whose vectors are made in one call of the embedder. */
const STEP = 25

/** Where the pass is remembered. */
const PASS = 'reembed'
/** Calls of the embedder in one run of the schedule. */
const PASS_STEPS = 8

export interface Reembedding {
  /** Entries whose vectors were made by this call. */
  readonly made: number
  readonly entries: number
  readonly embedded: number
}

/** How far a pass over all orgs has come; null when it is done. */
interface Pass {
  readonly model: string
  readonly upTo: number | null
}

export interface BackgroundGeneration {
  /** Makes the vectors of these entries; those that are gone meanwhile are passed over. */
  embed(ids: readonly number[]): Promise<void>
  /** Makes the summary of one entry. @throws Problem when the provider fails */
  summarize(id: number): Promise<void>
  /** Makes vectors of the configured model for the next entries of an org that have none, and says how far that is. */
  reembed(org: string): Promise<Reembedding>
  /**
   * Goes on with a pass over all orgs, which makes the vectors that a change of the model left to be made. A new pass
   * begins when the model has changed, or on demand.
   */
  continuePass(fromTheStart: boolean): Promise<void>
}

export function createBackgroundGeneration(dependencies: {
  readonly generate: Generate
  readonly summarizer: Summarizer | null
  readonly rows: VectorRows
  readonly summaries: Pick<EntryStore, 'summarize'>
  readonly settings: Settings
}): BackgroundGeneration {
  const { generate, summarizer, rows, summaries, settings } = dependencies

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

    async reembed(org) {
      if (generate.model === null) throw new Problem('unsupported', 'Semantic search is switched off')
      const missing = await rows.unembedded(org, generate.model, 0, STEP)
      await embedEntries(missing)
      return { made: missing.length, ...(await rows.coverage(org, generate.model)) }
    },

    async continuePass(fromTheStart) {
      const { model } = generate
      if (model === null) return
      const known = JSON.parse((await settings.read(PASS)) ?? 'null') as Pass | null
      let upTo = fromTheStart || known?.model !== model ? 0 : known.upTo
      for (let step = 0; step < PASS_STEPS && upTo !== null; step++) {
        const missing = await rows.unembedded(null, model, upTo, STEP)
        await embedEntries(missing)
        upTo = missing.length < STEP ? null : (missing.at(-1)?.id ?? null)
      }
      await settings.write(PASS, JSON.stringify({ model, upTo }))
    },
  }
}
