// What has a reader of a pack to know of how it was made? An empty one never looks as if nothing were known (platform contract §6).
import { type Doubt, NOTHING_FITS } from '../recall/doubt'
import type { PackEntry } from './candidate'
import { inline } from './markdown'
import type { PackRequest } from './request'

const DEGRADED = 'Meaning could not be searched; this is what words found.'
const NOTHING = 'Nothing that is stored has to do with this goal.'

/**
 * Lines for the head of a pack.
 *
 * @param found entries that were found
 */
export function saidOfPack(
  found: readonly Pick<PackEntry, 'project'>[],
  { project, homes }: Pick<PackRequest, 'project'> & { readonly homes: readonly string[] },
  { doubt, isEmpty, degraded }: { readonly doubt: Doubt; readonly isEmpty: boolean; readonly degraded: boolean },
): string[] {
  const isForeign = project !== null && !found.some((entry) => entry.project !== null && homes.includes(entry.project))
  return [
    ...(degraded ? [DEGRADED] : []),
    ...(isForeign ? [`Nothing that was found stands in project ${inline(project)}; look whether it is spelt so.`] : []),
    ...(isEmpty ? [NOTHING] : doubt === 'doubtful' ? [`${NOTHING_FITS} below.`] : []),
  ]
}
