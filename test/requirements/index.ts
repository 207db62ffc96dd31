import type { FAMILIES } from '../../src/tools/catalogue'
import { FABRIC } from './fabric'
import { HISTORY } from './history'
import { PACKS } from './packs'
import { RESOURCES } from './resources'
import { THREADS } from './threads'

/** Promises of each family, and of prompts and resources; a family without a list does not compile. */
export const REQUIREMENTS: Readonly<Record<keyof typeof FAMILIES | 'resources', Readonly<Record<string, string>>>> = {
  threads: THREADS,
  fabric: FABRIC,
  history: HISTORY,
  resources: RESOURCES,
  packs: PACKS,
}
