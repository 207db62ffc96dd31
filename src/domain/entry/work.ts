import type { Kind } from './kind'

/** Work that somebody has begun and not ended (packs contract, "In-flight work"). */
export const IN_FLIGHT = ['doing', 'blocked', 'review'] as const

/** The kinds that are work (platform contract §2, facet active_work). */
export const WORK_KINDS = ['task', 'epic', 'project'] as const satisfies readonly Kind[]
