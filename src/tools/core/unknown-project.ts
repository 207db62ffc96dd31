import { mostSimilarName } from '../../domain/name-similarity'
import type { CallContext } from '../context'
import { namedProject } from '../project'

/**
 * A warning that the named project has no memories, with the most similar name: otherwise a misspelt name looks like a project about
 * which nothing is known. One round trip if no result is of the project, else none.
 *
 * @param results projects of the results
 * @returns no warning if no project is named, or it has memories
 */
export async function unknownProject(
  { services, principal }: Pick<CallContext, 'services' | 'principal'>,
  project: string | undefined,
  results: readonly (string | null)[],
): Promise<string[]> {
  const named = namedProject(principal, project)
  if (named === null || results.includes(named)) return []
  const known = (await services.projects.list(principal)).filter(({ entries }) => entries > 0)
  if (known.some(({ key }) => key === named)) return []
  const nearest = mostSimilarName(
    named,
    known.flatMap(({ key, name, aliases }) => [
      key,
      ...(name === null ? [] : [name]),
      ...aliases.map((one) => one.name),
    ]),
  )
  const meant = nearest === null ? '' : `; the most similar name is ${JSON.stringify(nearest.slice(0, 100))}`
  return [`Project ${JSON.stringify(named.slice(0, 100))} has no memories${meant}`]
}
