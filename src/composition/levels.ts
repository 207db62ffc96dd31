import type { Config } from '../config'
import type { Levels } from '../domain/recall/similarity'
import type { Embedder } from '../ports/embedder'
import type { Settings } from '../ports/settings'
import { createLevels } from '../services/searching/memories/levels'
import type { Bindings } from './bindings'
import { levelsOf } from './isolate'

/** Without a model there are no cosines. */
const withoutLevels = async (): Promise<Levels> => ({ nothing: 0, answer: 1 })

/** What cosines of the configured model mean. */
export function chooseLevels(
  config: Config,
  bindings: Bindings,
  embedder: Embedder | null,
  settings: Settings,
): () => Promise<Levels> {
  if (embedder === null) return withoutLevels
  return createLevels({ embedder, settings, given: config.embedding.levels, remembered: levelsOf(bindings) })
}
