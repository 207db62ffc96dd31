import { invalidInput, limitExceeded } from '../errors'
import { decodeBase64 } from '../json/base64'
import { SentBytes } from '../json/sent-bytes'
import { scheduler } from '../scheduler'
import { sha256Hex } from '../text'
import type { IssueCollector } from '../validation'

/** An image of an entry. Its bytes are in the object store under their hash. */
export interface ImageRef {
  /** Hexadecimal SHA-256 of the bytes, in lower case. */
  readonly hash: string
  readonly mimeType: ImageType
  readonly size: number
  /** Returned as given; absent if absent. */
  readonly metadata?: string | Record<string, unknown>
}

export interface DecodedImage extends ImageRef {
  readonly bytes: Uint8Array
}

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** An image argument, unchecked. */
export interface ImageInput {
  readonly data?: unknown
  readonly mime_type?: string | undefined
  readonly metadata?: string | Record<string, unknown> | undefined
}

export const MEGABYTE = 1_048_576

const startsWith = (bytes: Uint8Array, prefix: readonly number[], at = 0): boolean =>
  prefix.every((byte, i) => bytes[at + i] === byte)

const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0))

/** The image type by its first bytes, regardless of the declared one; null for an unsupported type. */
export function detectImageType(bytes: Uint8Array): ImageType | null {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(bytes, ascii('GIF87a')) || startsWith(bytes, ascii('GIF89a'))) return 'image/gif'
  if (startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp'
  return null
}

export interface ImageLimits {
  /** Maximum bytes of one image and of all images of a request. */
  readonly each: number
  readonly total: number
}

/** The bytes of an image argument: a base64 string, or one decoded while it arrived. */
function bytesOf(data: unknown, index: number, { each }: ImageLimits): Uint8Array {
  if (data === undefined || data === null) throw invalidInput(`Image ${index} is missing required "data" field`)
  if (typeof data !== 'string' && !(data instanceof SentBytes))
    throw invalidInput(`Image ${index} "data" must be a base64 string`)
  const { bytes, tooLarge, empty } = typeof data === 'string' ? decodeBase64(data, each) : data.decoded
  if (empty) throw invalidInput(`Image ${index} has empty "data" field`)
  if (tooLarge) throw limitExceeded(`Image ${index} exceeds ${each / MEGABYTE}MB limit`)
  if (bytes === null) throw invalidInput(`Image ${index} has invalid base64 encoding`)
  if (bytes.length === 0) throw invalidInput(`Image ${index} "data" decodes to zero bytes`)
  return bytes
}

/** Decodes and checks an image. @throws Problem */
function decodeImage(index: number, image: ImageInput, limits: ImageLimits): Omit<DecodedImage, 'hash'> {
  const bytes = bytesOf(image.data, index, limits)
  const mimeType = detectImageType(bytes)
  if (mimeType === null) throw invalidInput(`Image ${index} is not a PNG, JPEG, GIF or WebP image`)
  const { metadata } = image
  return { mimeType, size: bytes.length, ...(metadata === undefined || metadata === null ? {} : { metadata }), bytes }
}

/** Records issues of each image, for arguments that are rejected anyway. */
export function inspectImages(images: readonly ImageInput[], limits: ImageLimits, wrong: IssueCollector): void {
  for (const [index, image] of images.entries())
    wrong.check(`images[${index}].data`, image.data, () => decodeImage(index, image, limits))
}

/**
 * Decodes and checks the images of an entry. Issues have the messages of the threads contract §2.4; indexes count from
 * 0.
 * @param spent bytes of images decoded earlier in the same request
 * @returns the valid images, until their sum is too large
 */
export async function decodeImages(
  images: readonly ImageInput[],
  limits: ImageLimits,
  { spent = 0, wrong }: { readonly spent?: number; readonly wrong: IssueCollector },
): Promise<DecodedImage[]> {
  const decoded: DecodedImage[] = []
  let total = spent
  for (const [index, image] of images.entries()) {
    const one = wrong.check(`images[${index}].data`, image.data, () => decodeImage(index, image, limits))
    if (one === undefined) continue
    total += one.size
    if (total > limits.total) {
      wrong.check('images', images, () => {
        throw limitExceeded(`Total image size exceeds ${limits.total / MEGABYTE}MB limit`)
      })
      break
    }
    decoded.push({ hash: await sha256Hex(one.bytes), ...one })
    await scheduler.tick(one.size)
  }
  return decoded
}
