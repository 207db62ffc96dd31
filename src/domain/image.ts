import { invalidInput, limitExceeded } from './errors'
import { sha256Hex } from './text'

/** An image beside an entry: its bytes live in the object store under the hash of their content. */
export interface ImageRef {
  /** Lower-case hexadecimal SHA-256 of the bytes. */
  readonly hash: string
  readonly mimeType: ImageType
  readonly size: number
  /** Returned exactly as given; absent stays absent. */
  readonly metadata?: string | Record<string, unknown>
}

export interface DecodedImage extends ImageRef {
  readonly bytes: Uint8Array
}

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** An image argument as it arrives. */
export interface ImageInput {
  readonly data?: unknown
  readonly mime_type?: string | undefined
  readonly metadata?: string | Record<string, unknown> | undefined
}

export const MEGABYTE = 1_048_576

const startsWith = (bytes: Uint8Array, prefix: readonly number[], at = 0): boolean =>
  prefix.every((byte, i) => bytes[at + i] === byte)

const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0))

/** The type that the first bytes show, whatever was declared; null when it is none of the four. */
export function detectImageType(bytes: Uint8Array): ImageType | null {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(bytes, ascii('GIF87a')) || startsWith(bytes, ascii('GIF89a'))) return 'image/gif'
  if (startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp'
  return null
}

/** Canonical padded base64 text of an argument: data-URL prefix and white space removed, URL-safe letters mapped. */
function canonicalBase64(data: string): string {
  const body = data.replace(/^data:[^,]*;base64,/i, '').replace(/[\t\n\v\f\r ]+/g, '')
  const standard = body.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '')
  return standard + '='.repeat((4 - (standard.length % 4)) % 4)
}

function decodeBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}

export interface ImageLimits {
  /** Largest image and largest sum of one request, in bytes. */
  readonly each: number
  readonly total: number
}

/**
 * Decodes and checks the images of one entry.
 *
 * @param spent bytes of images decoded earlier in the same request
 * @throws Problem with the messages of the threads contract §2.4, index from 0
 */
export async function decodeImages(
  images: readonly ImageInput[],
  limits: ImageLimits,
  spent = 0,
): Promise<DecodedImage[]> {
  const decoded: DecodedImage[] = []
  let total = spent
  for (const [index, image] of images.entries()) {
    if (image.data === undefined || image.data === null)
      throw invalidInput(`Image ${index} is missing required "data" field`)
    if (typeof image.data !== 'string') throw invalidInput(`Image ${index} "data" must be a base64 string`)
    if (image.data === '') throw invalidInput(`Image ${index} has empty "data" field`)
    const text = canonicalBase64(image.data)
    // Four letters hold three bytes: refuse what is far too large before decoding it.
    if ((text.length / 4) * 3 - 2 > limits.each)
      throw limitExceeded(`Image ${index} exceeds ${limits.each / MEGABYTE}MB limit`)
    const bytes = decodeBase64(text)
    if (bytes === null) throw invalidInput(`Image ${index} has invalid base64 encoding`)
    if (bytes.length === 0) throw invalidInput(`Image ${index} "data" decodes to zero bytes`)
    if (bytes.length > limits.each) throw limitExceeded(`Image ${index} exceeds ${limits.each / MEGABYTE}MB limit`)
    total += bytes.length
    if (total > limits.total) throw limitExceeded(`Total image size exceeds ${limits.total / MEGABYTE}MB limit`)
    const mimeType = detectImageType(bytes)
    if (mimeType === null) throw invalidInput(`Image ${index} is not a PNG, JPEG, GIF or WebP image`)
    decoded.push({
      hash: await sha256Hex(bytes),
      mimeType,
      size: bytes.length,
      ...(image.metadata === undefined || image.metadata === null ? {} : { metadata: image.metadata }),
      bytes,
    })
  }
  return decoded
}
