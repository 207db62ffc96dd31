import type { Kind } from '../entry/kind'
import { isLater, type PackEntry } from './candidate'
import { WEIGHTS, type Weights } from './weights'
import type { GoalWords } from './words'

/** What holds until somebody says otherwise, be it in passing. */
const HOLDS: ReadonlySet<Kind> = new Set<Kind>(['decision', 'rule', 'convention', 'plan'])

/** An entry and the words of the goal that it holds, by their places among its terms. */
export interface Mention {
  readonly entry: PackEntry
  readonly held: readonly number[]
}

/**
 * Decisions, rules and plans after which something else was said about what the goal asks: their ids, and the newest entry of the same
 * project, whatever its kind, that holds all the words of the goal which they hold, a rare one among them. Whoever reads the one has to
 * read the other, which may say that it holds no more.
 *
 * @param entries those first that have most to do with the goal
 */
export function laterMentions(
  entries: readonly Mention[],
  { rare }: Pick<GoalWords, 'rare'>,
  { anew }: Weights = WEIGHTS,
): Map<number, number> {
  const compared = entries
    .filter(({ entry, held }) => !entry.superseded && held.length >= anew.goalWords)
    .slice(0, anew.compared)
  const later = new Map<number, PackEntry>()
  for (const older of compared) {
    const { entry, held } = older
    if (!HOLDS.has(entry.kind) || !held.some((word) => rare[word])) continue
    for (const newer of compared) {
      if (newer.entry.project !== entry.project || !isLater(newer.entry, later.get(entry.id) ?? entry)) continue
      if (held.every((word) => newer.held.includes(word))) later.set(entry.id, newer.entry)
    }
  }
  return new Map([...later].map(([id, newest]) => [id, newest.id]))
}
