import type { ToolContext } from '../context'

/** The text of a recall pack, as the prompt and the resource show it. @throws Problem as `context` does */
export async function recallPack(
  { services, principal }: ToolContext,
  goal: string,
  project?: string,
): Promise<string> {
  const { text } = await services.packs.explained(principal, {
    ...{ goal, project, intent: 'build', layer: 'recall' },
    ...{ includeRelated: true, relatedLimit: RELATED },
  })
  return text
}

/** Neighbours named for each item, the default of the tool. */
const RELATED = 3
