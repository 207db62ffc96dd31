// What has a reader of a pack to know of how it was made? An empty one never looks as if nothing were known (platform contract §6).
import type { Weighed } from './evidence'
import { itemOf } from './item'
import { inline } from './markdown'
import type { PackRequest } from './request'
import { WEIGHTS, type Weights } from './weights'

/** Of what is near to a goal and has no place, the best so many are named. */
const NAMED = 3

const DEGRADED = 'Meaning could not be searched; this is what words found.'
const NOTHING = 'Nothing that is stored has to do with this goal.'
/** What is held back for saying too little of a goal may still be what was meant. */
const FAINT = 'Nothing that is stored clearly has to do with this goal; search before you take it for unknown.'

/** What comes nearest to a goal that nothing clearly has to do with. */
function nearestOf(weighed: readonly Weighed[], { floors }: Weights): string {
  const names = weighed
    .filter(({ evidence, score }) => !evidence.inProgress && !evidence.diary && score >= floors.floor)
    .sort((a, b) => b.score - a.score || b.entry.id - a.entry.id)
    .slice(0, NAMED)
    .map((one) => `[${one.entry.id}] ${inline(itemOf(one).name)}`)
  if (names.length === 0) return weighed.length === 0 ? NOTHING : FAINT
  return `Nothing that is stored clearly has to do with this goal. Nearest, perhaps about something else: ${names.join('; ')}.`
}

/**
 * Lines for the head of a pack.
 *
 * @param weighed what was found and still holds, in any order
 * @param unrelated whether nothing that has a place has to do with the goal
 */
export function saidOfPack(
  weighed: readonly Weighed[],
  { project }: Pick<PackRequest, 'project'>,
  { unrelated, degraded }: { readonly unrelated: boolean; readonly degraded: boolean },
  weights: Weights = WEIGHTS,
): string[] {
  const isForeign = project !== null && !weighed.some(({ entry }) => entry.project === project)
  return [
    ...(degraded ? [DEGRADED] : []),
    ...(isForeign ? [`Nothing that was found stands in project ${inline(project)}; look whether it is spelt so.`] : []),
    ...(unrelated ? [nearestOf(weighed, weights)] : []),
  ]
}
