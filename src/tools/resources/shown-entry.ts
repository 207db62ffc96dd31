import type { Entry } from '../../domain/entry/entry'
import type { ImageRef } from '../../domain/entry/image'
import type { ToolContext } from '../context'
import { wholeEntry } from '../threads/wire'

export const imageUrl = ({ origin }: ToolContext, { hash }: ImageRef): string => `${origin}/images/${hash}`

/** An entry as resources show it: as get_context_by_ids does, and what it is. */
export const shownEntry = (entry: Entry, context: ToolContext): Record<string, unknown> => ({
  ...wholeEntry(entry),
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
