import { cosine, modelKey, quantize } from '../../../domain/meaning/vector'
import { knownLevels, levelsOf } from '../../../domain/recall/levels/levels'
import { PAIRS } from '../../../domain/recall/levels/pairs'
import type { Levels } from '../../../domain/recall/similarity'
import type { Embedder } from '../../../ports/embedder'
import type { Settings } from '../../../ports/settings'

/** What cosines of the configured model mean: told, known, or measured once and kept (fabric contract §4). */
export function createLevels({
  embedder,
  settings,
  given,
  remembered = new Map(),
}: {
  readonly embedder: Embedder
  readonly settings: Settings
  /** `EMBEDDING_LEVELS`; null when it is not set. */
  readonly given: Levels | null
  /** What this isolate knows already, by model. */
  readonly remembered?: Map<string, Levels>
}): () => Promise<Levels> {
  const model = modelKey(embedder)
  const name = `levels:${model}`

  /** @throws Problem unavailable when the model does not answer */
  async function measured(): Promise<Levels> {
    const [questions, answers] = await Promise.all([
      embedder.embed(
        PAIRS.map(([question]) => question),
        'query',
      ),
      embedder.embed(
        PAIRS.map(([, answer]) => answer),
        'document',
      ),
    ])
    const [asked, answered] = [questions, answers].map((all) => all.map((vector) => quantize(vector))) as [
      ReturnType<typeof quantize>[],
      ReturnType<typeof quantize>[],
    ]
    return levelsOf(asked.map((query) => answered.map((text) => cosine(query.values, text.values))))
  }

  return async () => {
    const known = given ?? knownLevels(embedder) ?? remembered.get(model)
    if (known) return known
    const kept = await settings.read(name)
    const levels = kept === null ? await measured() : (JSON.parse(kept) as Levels)
    if (kept === null) await settings.write(name, JSON.stringify(levels))
    remembered.set(model, levels)
    return levels
  }
}
