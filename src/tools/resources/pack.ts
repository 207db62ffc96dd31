import type { ToolContext } from '../context'

/** The text of a recall pack, as the prompt and the resource show it. @throws Problem as `context` does */
export async function recallPack(
  { services, principal }: ToolContext,
  goal: string,
  project?: string,
): Promise<string> {
  const names = await services.names.names(principal, project === undefined ? [] : [project])
  const { text } = await services.packs.explained(names.within(principal), {
    ...{ goal, project: project === undefined ? undefined : (names.of(project)?.key ?? project) },
    ...{ intent: 'build', layer: 'recall' },
    ...{ includeRelated: true, relatedLimit: RELATED },
  })
  return text
}

/** Neighbours named for each item, the default of the tool. */
const RELATED = 3
