import type { PackLink } from './candidate'
import type { LinkEvidence } from './evidence'

/** What an entry takes over from one that it is linked with. */
const STRENGTHS: Readonly<Record<string, number>> = {
  contradicts: 1,
  supersedes: 0.9,
  decides: 0.9,
  depends_on: 0.9,
  requires: 0.9,
  supports: 0.8,
  part_of: 0.8,
  derived_from: 0.7,
  references: 0.7,
  related_to: 0.6,
}
const OTHER = 0.6
/** What takes the place of an entry takes over nearly all that speaks for it, whatever its own words are. */
const SUCCESSOR = 1.5
/** Each step takes that much of what is taken over. */
const STEP = 0.6

/**
 * The best link that leads to each entry from one that speaks for itself, in one or two steps.
 *
 * @param own what speaks for each entry without links
 */
export function linkEvidence(
  links: readonly PackLink[],
  own: ReadonlyMap<number, number>,
  steps: number,
): Map<number, LinkEvidence> {
  const best = new Map<number, LinkEvidence>()
  let carried: ReadonlyMap<number, number> = own
  for (let step = 0; step < steps; step++) {
    const next = new Map<number, number>()
    const offer = (from: number, to: number, relation: string, direction: LinkEvidence['direction']) => {
      const share = relation === 'supersedes' && direction === 'incoming' ? SUCCESSOR : (STRENGTHS[relation] ?? OTHER)
      const strength = (carried.get(from) ?? 0) * share * (step === 0 ? 1 : STEP)
      const known = best.get(to)
      if (strength <= 0 || strength <= (known?.strength ?? 0)) return
      best.set(to, { from, relation, direction, strength })
      next.set(to, strength)
    }
    for (const { from, relation, to } of links) {
      offer(from, to, relation, 'outgoing')
      offer(to, from, relation, 'incoming')
    }
    carried = next
  }
  return best
}

/** The entries that contradict one, or that it contradicts: neither is told without the other. */
export type Opponents = (id: number) => ReadonlySet<number>

const NOBODY: ReadonlySet<number> = new Set()

export function opponentsIn(links: readonly PackLink[]): Opponents {
  const opponents = new Map<number, Set<number>>()
  const add = (one: number, other: number) => {
    const known = opponents.get(one)
    if (known === undefined) opponents.set(one, new Set([other]))
    else known.add(other)
  }
  for (const { from, relation, to } of links) {
    if (relation !== 'contradicts' || from === to) continue
    add(from, to)
    add(to, from)
  }
  return (id) => opponents.get(id) ?? NOBODY
}
