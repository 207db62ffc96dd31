import type { Layer } from '../entry/entry'
import type { Kind } from '../entry/kind'
import type { Merged } from '../identity/scope'
import { and, type Filter, not, ofProject } from '../search/filter'
import { kindsOfWord } from './memory'

/** What a recall is confined to (fabric contract §4); an empty list is no filter. */
export interface RecallFilter extends Merged {
  readonly kinds: readonly Kind[]
  readonly layers: readonly Layer[]
  /** Normalised; any of them. */
  readonly tags: readonly string[]
  readonly project: string | null
}

/** What may be of use for an error of a project (of any for null): whatever was stored on purpose, and captured errors. */
export const similarTo = (scope: Merged, project: string | null): Filter =>
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
 * The memories that a recall may find. A project confines layers 1 and 2 and lets layer 3 through; where layer 3 alone is asked
 * for, it means those that came from that project.
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
