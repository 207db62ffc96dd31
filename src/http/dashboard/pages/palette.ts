import { titleOf } from '../../../domain/entry/title'
import { Problem } from '../../../domain/errors'
import { EVERYTHING } from '../../../domain/search/filter'
import { codePointLength, firstCodePoints } from '../../../domain/text'
import { entryAt, plain, threadAt, withQuery } from '../parts/words'
import { principalOf, queryParameter, type Visit } from '../visit'

/** A place that the command palette offers. */
interface Found {
  readonly label: string
  readonly at: string
  readonly hint: string
}

const [MEMORIES, NAMES] = [6, 4]
/** Characters from which memories are searched, and the most that are. */
const [SHORTEST, LONGEST] = [3, 200]
const LABEL = 120

/** Finds memories by words, the last one as a prefix. Words that cannot be searched find none. */
async function memories(visit: Visit, text: string): Promise<Found[]> {
  if (!visit.config.fts.enabled || codePointLength(text) < SHORTEST) return []
  try {
    const request = { query: text, mode: 'prefix', filter: EVERYTHING, limit: MEMORIES, offset: 0 } as const
    const { results } = await visit.services.rankedSearches.byWords(principalOf(visit), {
      ...request,
      ...{ previewLength: LABEL, highlight: false },
    })
    return results.map(({ entry }) => ({
      label: firstCodePoints(titleOf(entry), LABEL) || `Memory ${entry.id}`,
      at: entryAt(entry.id),
      hint: plain(entry.kind),
    }))
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_input') return []
    throw error
  }
}

/** Answers the command palette: memories, threads and projects that the visitor may see, as JSON. */
export async function palette(visit: Visit): Promise<Response> {
  const principal = principalOf(visit)
  const text = firstCodePoints(queryParameter(visit, 'q')?.trim() ?? '', LONGEST)
  if (text === '') return Response.json([])
  const { directory } = visit.services
  const [found, threads, projects] = await Promise.all([
    memories(visit, text),
    directory.threadsBeginning(principal, text, NAMES),
    directory.projectsBeginning(principal, text, NAMES),
  ])
  const all: Found[] = [
    ...projects.map((name) => ({ label: name, at: withQuery('/search', { project: name }), hint: 'Project' })),
    ...threads.map((name) => ({ label: name, at: threadAt(name), hint: 'Thread' })),
    ...found,
  ]
  return Response.json(all, { headers: { 'Cache-Control': 'no-store' } })
}

/** Names of each field that are suggested. */
const SUGGESTED = 50
/** Newest entries whose agents are suggested. */
const COUNTED = 2_000

/** Suggests values of a filter that the visitor may see: `field` names it, `q` starts the name. */
export async function suggest(visit: Visit): Promise<Response> {
  const principal = principalOf(visit)
  const { directory, overview } = visit.services
  const text = firstCodePoints(queryParameter(visit, 'q') ?? '', LONGEST)
  const named: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    project: () => directory.projectsBeginning(principal, text, SUGGESTED),
    thread: () => directory.threadsBeginning(principal, text, SUGGESTED),
    tag: () => directory.tagsBeginning(principal, text.toLowerCase(), SUGGESTED),
    agent: async () =>
      (
        await overview.activity(principal, { newest: COUNTED, since: visit.services.now(), names: SUGGESTED })
      ).agents.map(({ name }) => name),
  }
  const field = queryParameter(visit, 'field') ?? ''
  const names = Object.hasOwn(named, field) ? await named[field]?.() : []
  return Response.json(
    (names ?? []).filter((name) => name !== ''),
    { headers: { 'Cache-Control': 'no-store' } },
  )
}
