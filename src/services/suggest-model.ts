import type { Scope } from '../domain/identity/scope'
import { scheduler } from '../domain/scheduler'
import { isOtherThanEnglish } from '../domain/search/language'
import type { StoreOverview } from '../ports/directory'

/** Entries that are checked, and code points of each. */
const NEWEST = 1000
const PREFIX = 300
/** Fraction of entries in other languages from which another model is suggested. */
const ENOUGH = 0.2

const MULTILINGUAL = 'multilingual-e5-small'

/** Suggests another model for a scope, with the reason; null if the configured one is suitable. */
export type SuggestModel = (scope: Scope) => Promise<string | null>

/**
 * Suggests the multilingual model if the configured one knows only English and many entries are in other languages.
 *
 * @param isEnglishOnly whether the configured model knows only English; then at most 1,000 prefixes are read
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
