import { aliasesOf } from '../entry/names'
import type { Analyzer } from '../search/analysis'
import { type HeldName, namesHeldBy } from '../search/names'
import type { PackEntry } from './candidate'
import type { GoalWords } from './words'

/** Which names of an entry a goal holds whole. */
export function namesIn({ terms, spelled, counted, empty }: GoalWords, analyzer: Analyzer) {
  const held = namesHeldBy(
    {
      ...{ terms: terms.map(({ term }) => term), spelled },
      ...{ holding: counted.entriesWithTerm, entries: counted.entries },
      isEmpty: (place) => empty[place] === true,
    },
    analyzer,
  )
  return ({ metadata }: Pick<PackEntry, 'metadata'>): readonly HeldName[] => held(aliasesOf(metadata))
}
