import type { Scope } from '../domain/identity/scope'
import { scheduler } from '../domain/scheduler'
import { isOtherThanEnglish } from '../domain/search/language'
import type { StoreOverview } from '../ports/directory'

/** Entries that are checked, and code points of each. */
const NEWEST = 1000
const PREFIX = 300
/** Share of them from which another model is worth its size. */
const ENOUGH = 0.2

const MULTILINGUAL = 'multilingual-e5-small'

/** Why another model would serve a scope better, and how to choose it; null where the one in use does. */
export type SuggestModel = (scope: Scope) => Promise<string | null>

/**
 * Suggests the multilingual model where the English one is in use and many entries are in other languages.
 *
 * @param isEnglishOnly whether the model in use knows English alone; then at most 1,000 prefixes are read
 */
export function createSuggestModel(given: {
  readonly isEnglishOnly: boolean
  readonly overview: Pick<StoreOverview, 'prefixes'>
}): SuggestModel {
  const { isEnglishOnly, overview } = given
  return async (scope) => {
    if (!isEnglishOnly) return null
    const prefixes = await overview.prefixes(scope, { newest: NEWEST, codePoints: PREFIX })
    let others = 0
    for (const prefix of prefixes) {
      if (isOtherThanEnglish(prefix)) others++
      await scheduler.tick(prefix.length)
    }
    if (others === 0 || others < ENOUGH * prefixes.length) return null
    const percent = Math.round((100 * others) / prefixes.length)
    return (
      `${percent} % of the newest ${prefixes.length} entries are not in English, and the configured model knows only English; ` +
      `EMBEDDING_MODEL=${MULTILINGUAL} also finds them by meaning`
    )
  }
}
