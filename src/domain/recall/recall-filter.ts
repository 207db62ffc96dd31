import type { Layer } from '../entry/entry'
import type { Kind } from '../entry/kind'
import type { MergedProjects } from '../identity/scope'
import { and, type Filter, not, ofProject } from '../search/filter'
import { kindsOfWord } from './memory'

/** The filter of a recall (fabric contract §4). An empty list matches everything. */
export interface RecallFilter extends MergedProjects {
  readonly kinds: readonly Kind[]
  readonly layers: readonly Layer[]
  /** Normalized; a memory matches with any of them. */
  readonly tags: readonly string[]
  readonly project: string | null
}

/**
 * Matches memories that can help with an error in a project (null: any project): all memories stored on purpose, and
 * captured errors.
 */
export const similarTo = (scope: MergedProjects, project: string | null): Filter =>
  and([
    ...(project === null ? [] : [ofProject('projectScope', scope, project)]),
    not(
      and([
        { op: 'tag', anyOf: ['auto_capture'] },
        not({ op: 'kind', anyOf: kindsOfWord('bug_fix') as readonly Kind[] }),
      ]),
    ),
  ])

/**
 * The filter for memories that a recall can find. A project limits layers 1 and 2 but not layer 3; if only layer 3 is
 * requested, it limits layer 3 to memories from that project.
 */
export function recallFilter({ kinds, layers, tags, project, ...scope }: RecallFilter): Filter {
  const semanticOnly = layers.length > 0 && layers.every((layer) => layer === 3)
  const parts: Filter[] = [
    ...(project === null ? [] : [ofProject('projectScope', scope, project)]),
    ...(project !== null && semanticOnly ? [ofProject('project', scope, project)] : []),
    ...(layers.length === 0 ? [] : [{ op: 'layer', anyOf: layers } as const]),
    ...(kinds.length === 0 ? [] : [{ op: 'kind', anyOf: kinds } as const]),
    ...(tags.length === 0 ? [] : [{ op: 'tag', anyOf: tags } as const]),
  ]
  return and(parts)
}
