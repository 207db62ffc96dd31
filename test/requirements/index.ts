import type { FAMILIES } from '../../src/tools/catalogue'
import { FABRIC } from './fabric'
import { THREADS } from './threads'

/** What each family promises; a family without a list does not compile. */
export const REQUIREMENTS: Readonly<Record<keyof typeof FAMILIES, Readonly<Record<string, string>>>> = {
  threads: THREADS,
  fabric: FABRIC,
}
