// Collects the entries of a source in one shape, and reports each row that cannot be imported.

import {
  checkMetadata,
  checkTags,
  checkText,
  checkThreadId,
  checkVerbatim,
  MAX_IMAGES,
  MAX_TAGS,
} from '../../domain/entry/draft'
import { extractMetadata } from '../../domain/entry/extracted-metadata'
import { detectImageType, MEGABYTE } from '../../domain/entry/image'
import type { JsonObject, JsonValue } from '../../domain/entry/metadata'
import { normalizeTags } from '../../domain/entry/selection'
import { Problem } from '../../domain/errors'
import { unstorable } from '../../domain/text'
import type { Millis } from '../../domain/time'
import type { RecordId } from '../../domain/transfer/records'
import { RowProblem, SourceProblem } from './values'

/** The reader of imported files: no key limits it, and the person is unknown. */
export const ANYBODY = { org: '', projects: null, owner: null }

export interface FoundImage {
  readonly bytes: Uint8Array
  readonly mimeType: string
  readonly metadata?: string | JsonObject
}

/** An entry of a source. Ids in the four keys of metadata that hold ids are the source's. */
export interface Found {
  /** Its place, for messages: a row, a line or a file. */
  readonly where: string
  readonly id: RecordId
  readonly threadId: string
  readonly source: 'user' | 'agent'
  readonly text: string
  readonly metadata?: JsonObject | null
  readonly tags?: readonly string[]
  readonly images?: readonly FoundImage[]
  readonly summary?: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  readonly updatedAt?: Millis | null
  /** Fields of memories with a layer; their text is imported verbatim. */
  readonly layer?: 1 | 2 | 3
  readonly pinned?: boolean
  readonly accessedAt?: Millis | null
  readonly accessCount?: number
}

export interface ImportNotice {
  readonly where: string
  readonly message: string
  /** Whether the row is refused; else it was imported with changes. */
  readonly refused: boolean
}

/** Collects the entries of a source; each is checked by the rules of the store, so that the server accepts it. */
export class Collector {
  readonly entries: Found[] = []
  readonly notices: ImportNotice[] = []
  /** Number of rows left out on purpose, by kind. */
  readonly skipped = new Map<string, number>()
  private readonly ids = new Set<string>()
  private readonly noted = new Set<string>()

  /** Adds the entry that the function returns, or reports why not. */
  take(where: string, find: () => Omit<Found, 'where'> | null): void {
    try {
      const found = find()
      if (found !== null) this.add(where, found)
    } catch (error) {
      if (!(error instanceof RowProblem || error instanceof Problem)) throw error
      this.refuse(where, error.message)
    }
  }

  private add(where: string, found: Omit<Found, 'where'>): void {
    if (this.ids.has(String(found.id))) throw new RowProblem(`the id ${found.id} occurs twice`)
    const threadId = checkThreadId(found.threadId)
    const text = found.layer === undefined ? checkText(found.text) : checkVerbatim(found.text, 'text')
    const tags = this.tags(where, found.tags ?? [])
    const metadata = found.metadata ?? null
    if (metadata !== null) checkMetadata(metadata)
    // Invalid reserved keys are reported here, where the row is known.
    extractMetadata(metadata, ANYBODY, null)
    const reason = flawIn([threadId, text, ...tags, metadata])
    if (reason !== null) throw new RowProblem(`it ${reason}`)
    const images = this.images(where, found.images ?? [])
    this.ids.add(String(found.id))
    this.entries.push({ ...found, where, threadId, text, tags, metadata, images })
  }

  /** Returns the valid tags, normalized; each other one is reported. */
  private tags(where: string, tags: readonly string[]): string[] {
    const good = tags.filter((tag) => {
      const reason = reasonAgainst(tag)
      if (reason !== null) this.note(where, `${reason}; the entry is imported without this tag`)
      return reason === null
    })
    const all = normalizeTags(good)
    if (all.length > MAX_TAGS)
      this.note(where, `it has ${all.length} tags; the entry is imported with the first ${MAX_TAGS}`)
    return all.slice(0, MAX_TAGS)
  }

  /** Returns the valid images; each other one is reported. */
  private images(where: string, images: readonly FoundImage[]): FoundImage[] {
    return images.flatMap((image, i) => {
      const type = detectImageType(image.bytes)
      const reason =
        image.bytes.length === 0
          ? 'has no bytes'
          : image.bytes.length > 10 * MEGABYTE
            ? 'is larger than 10 MB'
            : i >= MAX_IMAGES
              ? `is beyond the ${MAX_IMAGES} that an entry may have`
              : type === null
                ? 'is not a PNG, JPEG, GIF or WebP image'
                : null
      if (reason === null && type !== null) return [{ ...image, mimeType: type }]
      this.note(where, `image ${i + 1} ${reason}; the entry is imported without it`)
      return []
    })
  }

  refuse(where: string, message: string): void {
    this.notices.push({ where, message, refused: true })
  }

  /** Reports something about an imported row, once. */
  note(where: string, message: string): void {
    const key = `${where}\n${message}`
    if (this.noted.has(key)) return
    this.noted.add(key)
    this.notices.push({ where, message, refused: false })
  }

  skip(what: string): void {
    this.skipped.set(what, (this.skipped.get(what) ?? 0) + 1)
  }

  /** @throws SourceProblem if the source has nothing to import or report: the path is probably wrong */
  holding(path: string, what: string): this {
    if (this.entries.length === 0 && this.notices.length === 0) throw new SourceProblem(`${path} holds no ${what}`)
    return this
  }
}

/** Returns why the store refuses a tag; null for a valid one. */
function reasonAgainst(tag: string): string | null {
  const flaw = unstorable(tag)
  if (flaw !== null) return `a tag ${flaw}`
  try {
    checkTags([tag])
    return null
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** Returns why a string in a value cannot be stored; null if all can. */
function flawIn(value: JsonValue): string | null {
  if (typeof value === 'string') return unstorable(value)
  if (typeof value !== 'object' || value === null) return null
  const strings = Array.isArray(value) ? value : Object.entries(value).flat()
  for (const one of strings) {
    const reason = flawIn(one)
    if (reason !== null) return reason
  }
  return null
}
