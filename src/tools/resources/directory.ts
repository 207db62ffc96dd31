import { invalidInput } from '../../domain/errors'
import { resourceUri, TEMPLATES } from '../../domain/resources/resource-uri'
import type { ThreadPlace } from '../../domain/statistics'
import { formatSecond } from '../../domain/time'
import type { ToolContext } from '../context'

/** Resources of a page. It is small, because some clients load every page or make a tool of each resource. */
const PAGE = 20
/** Names that a completion returns; MCP allows 100. */
const BEST = 20

/** Templates in the order in which they are listed. */
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

/** Returns the templates for a client with these tools. A pack needs the tool `context`. */
export const listTemplates = (tools: ReadonlySet<string>) =>
  RESOURCE_TEMPLATES.filter(({ uriTemplate }) => uriTemplate !== TEMPLATES.pack || tools.has('context'))

/** Encodes a position in the order of threads. */
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

/** Lists threads as resources, last used first. @throws Problem for an invalid cursor */
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

/** Completes names of threads and projects by prefix, last used first. Other variables have no completions. */
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
