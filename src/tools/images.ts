import * as z from 'zod'
import { MAX_IMAGES } from '../domain/entry/draft'
import type { Entry } from '../domain/entry/entry'
import { inspectImages as lookAt } from '../domain/entry/image'
import { IssueCollector } from '../domain/validation'
import { type LoadedImage, loadImages } from '../services/writing/entries/image-transfer'
import type { CallContext } from './context'
import { isRecord } from './record'

/** Formats of images in results (platform contract §3): image blocks for models, base64 for programs that request it. */
const FORMATS = ['block', 'inline'] as const

export const imageFormat = z.enum(FORMATS).default('block').meta({ description: 'inline: base64 in JSON' })

/** Checks the images among the arguments, if other arguments are wrong. @throws Problem */
export function inspectImages({ images }: Record<string, unknown>, { config }: Pick<CallContext, 'config'>): void {
  const wrong = new IssueCollector()
  // The schema reports a list that is longer than the limit.
  if (Array.isArray(images)) lookAt(images.slice(0, MAX_IMAGES).map(asRecord), config.imageLimits, wrong)
  wrong.end()
}

const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

/** The image arguments of a call. */
export interface ImageArguments {
  readonly include_images: boolean
  readonly image_format: (typeof FORMATS)[number]
}

function toWire(image: LoadedImage, context: CallContext, format: ImageArguments['image_format']) {
  const { hash, mimeType, size, metadata, bytes } = image
  const url = `${context.origin}/images/${hash}`
  const described = { mime_type: mimeType, size, sha256: hash, ...(metadata === undefined ? {} : { metadata }), url }
  if (bytes === null) {
    const block = context.attach({ type: 'resource_link', uri: url, name: `${hash.slice(0, 12)}`, mimeType, size })
    return { ...described, block, data_omitted: true }
  }
  const data = bytes.toBase64()
  return format === 'inline'
    ? { ...described, data }
    : { ...described, block: context.attach({ type: 'image', data, mimeType }) }
}

/** Converts characters of base64 to bytes. */
const inBase64 = (letters: number): number => Math.floor(letters / 4) * 3

/**
 * Adds the `images` member to each serialized entry that has images.
 *
 * @param left bytes that the JSON of the result may still use; larger inline images are linked
 */
export async function withImages<Shown extends Record<string, unknown>>(
  context: CallContext,
  entries: readonly { readonly entry: Pick<Entry, 'id' | 'images'>; readonly shown: Shown }[],
  { include_images: wanted, image_format: format }: ImageArguments,
  left: number,
): Promise<Record<string, unknown>[]> {
  if (!wanted) return entries.map(({ shown }) => shown)
  const loaded = await loadImages(
    context.services.images,
    context.principal,
    entries.map(({ entry }) => entry),
    format === 'inline' ? inBase64(left) : undefined,
  )
  return entries.map(({ entry, shown }) => {
    const images = loaded.get(entry.id) ?? []
    return images.length === 0 ? shown : { ...shown, images: images.map((image) => toWire(image, context, format)) }
  })
}
