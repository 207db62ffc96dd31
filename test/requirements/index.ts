import type { FAMILIES } from '../../src/tools/catalogue'
import { CORE } from './core'
import { FABRIC } from './fabric'
import { HISTORY } from './history'
import { PACKS } from './packs'
import { RESOURCES } from './resources'
import { THREADS } from './threads'

/** What each family promises, and what stands beside the tools; a family without a list does not compile. */
export const REQUIREMENTS: Readonly<
  Record<keyof typeof FAMILIES | 'core' | 'resources', Readonly<Record<string, string>>>
> = {
  threads: THREADS,
  fabric: FABRIC,
  history: HISTORY,
  core: CORE,
  resources: RESOURCES,
  packs: PACKS,
}
