import { cosineOf, dot } from '../meaning/vector'
import { type Rescale, UNSCALED } from '../recall/similarity'
import { isLater, type Nearest, type PackEntry } from './candidate'
import { facetOfEntry, isInProgress } from './evidence'
import type { LinkEvidence } from './links'
import { WEIGHTS, type Weights } from './weights'

/** From work that is taken up again to what was last written of it: no link of the store. */
const WENT_ON = 'went on'

/**
 * Whoever takes up work again wants what was last written of it, which need not name it: sessions and notes that are newer than the work
 * in flight that the goal means, and nearest to it in meaning.
 *
 * @param own what speaks for each entry without links
 */
export function lastSessions(
  entries: readonly PackEntry[],
  nearest: ReadonlyMap<number, Nearest>,
  own: ReadonlyMap<number, number>,
  rescale: Rescale = UNSCALED,
  { resumed, noise: { least, most } }: Weights = WEIGHTS,
): Map<number, LinkEvidence> {
  const says = ({ id }: PackEntry): number => own.get(id) ?? 0
  const meant = entries
    .filter((entry) => isInProgress(entry) && says(entry) >= resumed.meant)
    .sort((a, b) => says(b) - says(a) || b.id - a.id)
    .slice(0, resumed.works)
  const found = new Map<number, LinkEvidence>()
  for (const work of meant) {
    const at = nearest.get(work.id)
    if (at === undefined) continue
    const near = entries
      .flatMap((entry) => {
        const other = nearest.get(entry.id)
        if (other === undefined || facetOfEntry(entry) !== 'recent_memory' || entry.superseded) return []
        if (!isLater(entry, work) || other.vector.values.length !== at.vector.values.length) return []
        const cosine = cosineOf(dot(at.vector.values, other.vector.values), at.squares, other.squares)
        return [{ entry, cosine: rescale(cosine) }]
      })
      .sort((a, b) => b.cosine - a.cosine || b.entry.id - a.entry.id)
    // What lies below most of them has nothing to do with this work: models differ in where their cosines begin.
    const noise = Math.max(least, Math.min(most, near[Math.floor(near.length * resumed.noiseAt)]?.cosine ?? 0))
    for (const { entry, cosine } of near.slice(0, resumed.sessions)) {
      const strength = says(work) * Math.min(1, Math.max(0, (resumed.steep * (cosine - noise)) / (1 - noise)))
      if (strength > (found.get(entry.id)?.strength ?? 0))
        found.set(entry.id, { from: work.id, relation: WENT_ON, direction: 'outgoing', strength })
    }
  }
  return found
}
