import type { Entry } from '../../domain/entry/entry'
import type { ImageRef } from '../../domain/entry/image'
import { jsonText } from '../../domain/json/write'
import { type Resource, resourceUri } from '../../domain/resources/resource-uri'
import { RESULT_BYTES } from '../../domain/search/window'
import { truncate } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { loadImages } from '../../services/writing/entries/image-transfer'
import type { ToolContext } from '../context'
import { fitting, omittedMember } from '../result-size'
import { completeEntry } from '../threads/entry-serializer'
import { type SendChunked, writeJson } from '../tool-result'

/** Returns the text of a recall pack for the prompt and the resource. @throws Problem as `context` does */
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

/** Linked entries per item, the default of the tool. */
const RELATED = 3

export const imageUrl = ({ origin }: ToolContext, { hash }: ImageRef): string => `${origin}/images/${hash}`

/** Serializes an entry as get_context_by_ids does, with its kind, title and summary. */
export const shownEntry = (entry: Entry, context: ToolContext): Record<string, unknown> => ({
  ...completeEntry(entry),
  kind: entry.kind,
  ...(entry.title === null ? {} : { title: entry.title }),
  ...(entry.project === null ? {} : { project: entry.project }),
  ...(entry.summary === '' ? {} : { summary: entry.summary }),
  ...(entry.images.length === 0
    ? {}
    : {
        images: entry.images.map((image) => ({
          mime_type: image.mimeType,
          size: image.size,
          sha256: image.hash,
          url: imageUrl(context, image),
        })),
      }),
})

/** A part of the answer to `resources/read`, in the form of MCP. */
export type Content =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string }

/** Newest entries in the resource of a thread. */
const TAIL = 100
/** Entries in the overview of a project, and characters of each. */
const OVERVIEW = { decisions: 10, inFlight: 20, previewLength: 501 }

const JSON_TYPE = 'application/json'

const json = (uri: string, value: Record<string, unknown>): Content => ({
  uri,
  mimeType: JSON_TYPE,
  text: jsonText(value),
})

/** Returns the entry, then its images as far as the answer has space; other images are named by their address. */
async function entryContents(context: ToolContext, id: number, uri: string): Promise<Content[] | null> {
  const { services, principal } = context
  const [entry] = (await services.entries.readWithin(principal, [id], RESULT_BYTES)).entries
  if (entry === undefined) return null
  const images = (await loadImages(services.images, principal, [entry])).get(id) ?? []
  return [
    json(uri, shownEntry(entry, context)),
    ...images.flatMap((image) =>
      image.bytes === null
        ? []
        : [{ uri: imageUrl(context, image), mimeType: image.mimeType, blob: image.bytes.toBase64() }],
    ),
  ]
}

/** Returns the newest entries of a thread, oldest first. */
async function threadContents(
  context: ToolContext,
  threadId: string,
  uri: string,
  sendApart: SendChunked,
): Promise<Content[] | null> {
  const { entries, omitted, total } = await context.services.directory.tail(
    context.principal,
    threadId,
    TAIL,
    RESULT_BYTES,
  )
  if (entries.length === 0) return null
  const fits = await fitting(entries.map((entry) => ({ entry, show: () => shownEntry(entry, context) })))
  const thread = {
    thread_id: threadId,
    total,
    entries: fits.kept.map(({ shown }) => shown).toReversed(),
    ...omittedMember([...fits.omitted, ...omitted].toReversed()),
  }
  const json = await writeJson(thread)
  return [{ uri, mimeType: JSON_TYPE, text: typeof json === 'string' ? json : sendApart.asString(json) }]
}

/** Serializes an entry in the overview of its project: a preview, and the address of the entry. */
const shownInOverview = (entry: Entry): Record<string, unknown> => {
  const status = entry.metadata?.status
  return {
    id: entry.id,
    uri: resourceUri({ kind: 'entry', id: entry.id }),
    kind: entry.kind,
    ...(entry.title === null ? {} : { title: entry.title }),
    ...(typeof status === 'string' ? { status } : {}),
    text: truncate(entry.text, OVERVIEW.previewLength - 1).text,
    updated_at: formatSecond(entry.updatedAt),
  }
}

async function projectContents(context: ToolContext, named: string, uri: string): Promise<Content[] | null> {
  const names = await context.services.names.names(context.principal, [named])
  const project = names.of(named)?.key ?? named
  const overview = await context.services.directory.project(names.within(context.principal), project, OVERVIEW)
  if (overview === null) return null
  const { counts, decisions, inFlight } = overview
  return [
    json(uri, {
      project,
      total: counts.reduce((sum, { count }) => sum + count, 0),
      counts: Object.fromEntries(counts.map(({ kind, count }) => [kind, count])),
      decisions: decisions.map(shownInOverview),
      in_flight: inFlight.map(shownInOverview),
    }),
  ]
}

/**
 * Reads a resource; null if it does not exist or the caller cannot see it.
 *
 * @param uri the requested address, which the answer repeats
 */
export async function readContents(
  context: ToolContext,
  resource: Resource,
  uri: string,
  sendApart: SendChunked,
): Promise<Content[] | null> {
  switch (resource.kind) {
    case 'entry':
      return entryContents(context, resource.id, uri)
    case 'thread':
      return threadContents(context, resource.threadId, uri, sendApart)
    case 'project':
      return projectContents(context, resource.project, uri)
    case 'pack':
      return [{ uri, mimeType: 'text/markdown', text: await recallPack(context, resource.goal) }]
  }
}
