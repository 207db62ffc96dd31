import { invalidInput } from '../../domain/errors'
import type { ThreadPlace } from '../../domain/report'
import { resourceUri, TEMPLATES } from '../../domain/resources/resource-uri'
import { formatSecond } from '../../domain/time'
import type { ToolContext } from '../context'

/** Which resources there are, and the names that clients may complete (packs contract, "Prompts and resources"). */

/** Clients that show resources to a model, or make tools of them, load every page. */
const PAGE = 20
/** As many names a completion brings; MCP allows 100. */
const BEST = 20

/** In the order in which they are listed. */
const RESOURCE_TEMPLATES = [
  {
    uriTemplate: TEMPLATES.entry,
    name: 'entry',
    title: 'Entry',
    description: 'One complete memory, with its images.',
  },
  {
    uriTemplate: TEMPLATES.thread,
    name: 'thread',
    title: 'Thread',
    description: 'The newest 100 entries of a conversation or task, oldest first.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: TEMPLATES.project,
    name: 'project',
    title: 'Project',
    description: 'Memory counts of a project, its newest decisions and its open work.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: TEMPLATES.pack,
    name: 'pack',
    title: 'Pack',
    description: 'Context pack for a goal, as Markdown: decisions, open work, rules, pitfalls and more.',
    mimeType: 'text/markdown',
  },
] as const

/** The templates that a client with these tools is offered; a pack is what the tool `context` makes. */
export const listTemplates = (tools: ReadonlySet<string>) =>
  RESOURCE_TEMPLATES.filter(({ uriTemplate }) => uriTemplate !== TEMPLATES.pack || tools.has('context'))

/** An opaque place in the order of threads. */
const toCursor = ({ lastSecond, lastId }: ThreadPlace): string => btoa(`${lastSecond}.${lastId}`)

function readCursor(cursor: string): ThreadPlace {
  const [, second, id] = /^(\d{1,13})\.(\d{1,16})$/.exec(decoded(cursor)) ?? []
  if (second === undefined || id === undefined || !Number.isSafeInteger(Number(id)))
    throw invalidInput('Invalid cursor: use the nextCursor of the previous page, or none for the first page')
  return { threadId: '', lastSecond: Number(second), lastId: Number(id) }
}

function decoded(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}

/** A page of the resources that can be named beforehand: threads, the last used first. @throws Problem for a foreign cursor */
export async function listResources({ services, principal }: ToolContext, cursor: string | undefined) {
  const after = cursor === undefined ? null : readCursor(cursor)
  const threads = await services.directory.threads(principal, after, PAGE + 1)
  const page = threads.slice(0, PAGE)
  const last = page.at(-1)
  return {
    resources: page.map(({ threadId, entries, lastSecond }) => {
      const lastModified = formatSecond(lastSecond * 1000)
      return {
        uri: resourceUri({ kind: 'thread', threadId }),
        // The prefix distinguishes a thread from a tool of the same name.
        name: `thread:${threadId}`,
        title: threadId,
        description: `${entries} ${entries === 1 ? 'entry' : 'entries'}, last used ${lastModified}`,
        mimeType: 'application/json',
        annotations: { lastModified },
      }
    }),
    ...(threads.length > PAGE && last !== undefined ? { nextCursor: toCursor(last) } : {}),
  }
}

/** Names that begin as the value does, the last used first. Other variables than threads and projects have none. */
export async function completeName({ services, principal }: ToolContext, variable: string, value: string) {
  const { directory } = services
  const names =
    variable === 'thread_id'
      ? await directory.threadsBeginning(principal, value, BEST + 1)
      : variable === 'project'
        ? await directory.projectsBeginning(principal, value, BEST + 1)
        : []
  return { values: names.slice(0, BEST), hasMore: names.length > BEST }
}
