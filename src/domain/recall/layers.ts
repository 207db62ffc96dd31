import type { Layer } from '../entry/entry'

/** Default and maximum lifetime of a working memory in seconds: an hour and a year (fabric contract §2). */
export const DEFAULT_TTL = 3_600
export const MAX_TTL = 31_536_000

/** Maximum number of working memories in a project; a further one replaces the least recently used. */
export const WORKING_CAPACITY = 1_000

interface Routed {
  readonly layer?: Layer | undefined
  /** Normalized. */
  readonly tags: readonly string[]
  readonly ttl?: number | undefined
  readonly type: string
}

/** The layer in which a memory is stored: by the first matching rule (fabric contract §2.1). */
export function routeToLayer({ layer, tags, ttl, type }: Routed): Layer {
  const tagged = (...words: string[]) => words.some((word) => tags.includes(word))
  if (layer !== undefined) return layer
  if (tagged('temp', 'temporary')) return 1
  if (tagged('global', 'universal')) return 3
  if (tagged('project', 'local')) return 2
  if (ttl !== undefined || type === 'scratchpad') return 1
  return ['code_pattern', 'convention', 'relationship'].includes(type) ? 3 : 2
}
