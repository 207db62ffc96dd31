import type { PackLink } from './candidate'
import { WEIGHTS, type Weights } from './weights'

/** A link that leads to an entry from a better one. */
export interface LinkEvidence {
  readonly from: number
  readonly relation: string
  readonly direction: 'outgoing' | 'incoming'
  /** 0 to 1. */
  readonly strength: number
}

/** From what is said anew to what says it: no link of the store. */
export const SAYS_ANEW = 'says anew'

function shareOf(relation: string, direction: LinkEvidence['direction'], { links }: Weights): number {
  if (relation === SAYS_ANEW) return direction === 'incoming' ? links.saidAnew : 0
  if (relation === 'supersedes' && direction === 'incoming') return links.successor
  return links.carries
}

/**
 * The best link that leads to each entry from one that speaks for itself, in one or two steps.
 *
 * @param own what speaks for each entry without links
 */
export function linkEvidence(
  links: readonly PackLink[],
  own: ReadonlyMap<number, number>,
  steps: number,
  weights: Weights = WEIGHTS,
): Map<number, LinkEvidence> {
  const best = new Map<number, LinkEvidence>()
  let carried: ReadonlyMap<number, number> = own
  for (let step = 0; step < steps; step++) {
    const next = new Map<number, number>()
    const offer = (from: number, to: number, relation: string, direction: LinkEvidence['direction']) => {
      const share = shareOf(relation, direction, weights)
      const strength = (carried.get(from) ?? 0) * share * (step === 0 ? 1 : weights.links.step)
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
