// Converts an entry to a Markdown file and back: front matter with its metadata, then its text unchanged (docs/import/markdown-folder.md).
import { createHash } from 'node:crypto'
import { Document, Scalar, visit } from 'yaml'
import { extractMetadata } from '../../domain/entry/extracted-metadata'
import { type JsonObject, type JsonValue, own } from '../../domain/entry/metadata'
import { normalizeTags } from '../../domain/entry/selection'
import { slug } from '../../domain/reading/outline'
import { codePointLength, firstCodePoints } from '../../domain/text'
import { parseInstant } from '../../domain/time'
import { ID_KEYS, withIds } from '../../domain/transfer/content-checksum'
import type { EntryRecord } from '../../domain/transfer/records'
import { ANYBODY } from '../import/collector'
import { readNote } from '../import/front-matter'
import { isJsonObject, RowProblem, shown, textOf } from '../import/values'

type Link = NonNullable<EntryRecord['links']>[number]
type Image = NonNullable<EntryRecord['images']>[number]

/** Front matter keys for members of the entry. Metadata with such a name are below `metadata`; every other key is metadata. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...['tags', 'links', 'images', 'id', 'thread', 'source', 'created', 'updated', 'version', 'metadata', 'checksum'],
  ...[
    'entry_project',
    'entry_agent',
    'entry_weight',
    'entry_pinned',
    'entry_expires_at',
    'entry_layer',
    'entry_archived',
  ],
])

/** Folder of image files, from the root of the folder. */
export const ATTACHMENTS = 'attachments'
const ENDINGS: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg' }
export const attachmentOf = ({ sha256, mime_type }: Pick<Image, 'sha256' | 'mime_type'>): string =>
  `${ATTACHMENTS}/${sha256}.${ENDINGS[mime_type] ?? mime_type.replace(/^image\//, '').replaceAll(/[^a-z0-9]/g, '')}`

const MOST_NAME = 60
const MOST_NAME_BYTES = 120
/** Reserved device names of Windows. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)$/i

const shortened = (name: string): string => {
  let short = codePointLength(name) > MOST_NAME ? firstCodePoints(name, MOST_NAME) : name
  while (Buffer.byteLength(short) > MOST_NAME_BYTES) short = firstCodePoints(short, codePointLength(short) - 1)
  return short.replace(/[-.\s]+$/, '')
}

/** Makes a word a valid folder name on every system; never hidden, never a parent path. */
function folderName(word: string): string {
  const plain = word
    .normalize('NFC')
    .replaceAll(/[\\/:*?"<>|#^[\]\p{Cc}\p{Cf}]+/gu, '-')
    .replace(/^[-.\s]+/, '')
  const name = shortened(plain)
  return name === '' ? 'unnamed' : DEVICES.test(name) ? `${name}_` : name
}

/** Returns the folder of an entry: its project and its kind. */
export const folderOf = ({ project, kind }: Pick<EntryRecord, 'project' | 'kind'>): string =>
  `${project === undefined ? 'no project' : folderName(project)}/${folderName(kind ?? 'note')}`

/** Returns the name of a new file, without its ending: the title and the id. An existing file keeps its name. */
export function fileNameOf({ id, title, text }: Pick<EntryRecord, 'id' | 'title' | 'text'>): string {
  const line = title ?? text.split('\n').find((one) => one.trim() !== '') ?? ''
  return `${shortened(slug(firstCodePoints(line, 4 * MOST_NAME)))}-${id}`
}

/** Formats an id as `[[name]]`; text ids are marked, so that they are read back as text. */
const wikiLink = (name: string, id: JsonValue): string => (typeof id === 'string' ? `[[${name}|${id}]]` : `[[${name}]]`)

const iso = (ms: number): string => new Date(ms).toISOString()

/** Members of metadata that hold ids, by the relation of their links. */
const RELATIONS: readonly string[] = ['references', ...ID_KEYS]

/** Yields each id in metadata with the relation of its key. */
function withLinks(metadata: JsonObject, change: (id: JsonValue, relation: string) => JsonValue): JsonObject {
  let changed = metadata
  for (const relation of RELATIONS) {
    const value = own(changed, relation)
    if (value === undefined) continue
    const one = withIds({ [relation]: value }, (id) => change(id, relation))
    changed = Object.fromEntries(
      Object.entries(changed).map(([key, member]) => [key, key === relation ? (one[relation] ?? null) : member]),
    )
  }
  return changed
}

/**
 * Builds the file of an entry.
 *
 * @param nameOf returns the file name of an entry by its id; undefined if it has no file
 */
export function writeMarkdown(record: EntryRecord, nameOf: (id: string) => string | undefined): string {
  const given = record.metadata ?? null
  const lifted = extractMetadata(given, ANYBODY, null)
  const links = record.links ?? []
  const inMetadata = new Set<Link>()
  const metadata = withLinks(given ?? {}, (id, relation) => {
    const link = links.find(
      (one) => one.origin === 'metadata' && one.relation === relation && String(one.to) === String(id),
    )
    const name = link === undefined ? undefined : nameOf(String(id))
    if (link === undefined || name === undefined) return id
    inMetadata.add(link)
    return wikiLink(name, id)
  })
  const [free, taken] = [true, false].map((isFree) =>
    Object.fromEntries(Object.entries(metadata).filter(([key]) => MEMBERS.has(key) !== isFree)),
  )
  const { weight = 3, pinned = false, layer = 2 } = record
  const others = links.filter((link) => !inMetadata.has(link))
  const front: Record<string, unknown> = {
    ...titleFirst(free ?? {}),
    ...(Object.keys(taken ?? {}).length === 0 && (given === null || Object.keys(given).length > 0)
      ? {}
      : { metadata: taken }),
    ...listed('tags', record.tags ?? []),
    ...(others.length === 0 ? {} : { links: groupedLinks(others, nameOf) }),
    ...listed(
      'images',
      (record.images ?? []).map((image) => ({ file: `[[${attachmentOf(image)}]]`, ...image })),
    ),
    ...(record.project === undefined || record.project === lifted.project ? {} : { entry_project: record.project }),
    ...(record.agent === undefined || record.agent === lifted.agent ? {} : { entry_agent: record.agent }),
    ...(weight === (lifted.weight ?? 3) ? {} : { entry_weight: weight }),
    ...(pinned === (lifted.pinned === true) ? {} : { entry_pinned: pinned }),
    ...(record.expires_at === (lifted.expiresAt === null ? undefined : iso(lifted.expiresAt))
      ? {}
      : { entry_expires_at: record.expires_at }),
    ...(layer === 2 ? {} : { entry_layer: layer }),
    ...(record.archived === true ? { entry_archived: true } : {}),
    source: record.source,
    thread: record.thread_id,
    created: record.created_at,
    updated: record.updated_at,
    version: record.version,
    id: record.id,
  }
  const yaml = yamlOf(front)
  return fileOf(`${yaml}checksum: ${checksumOf(yaml, record.text)}\n`, record.text)
}

const fileOf = (yaml: string, text: string): string => `---\n${yaml}---\n${text}\n`

/** A short hash to detect edits; it is not a protection. A leading letter prevents YAML from reading a number. */
const checksumOf = (yaml: string, text: string): string =>
  `c${createHash('sha256').update(fileOf(yaml, text)).digest('hex').slice(0, 15)}`

const listed = (name: string, list: readonly unknown[]): Record<string, unknown> =>
  list.length === 0 ? {} : { [name]: list }

function titleFirst(metadata: JsonObject): JsonObject {
  const first = ['title', 'kind', 'type', 'project'].filter((key) => Object.hasOwn(metadata, key))
  return { ...Object.fromEntries(first.map((key) => [key, metadata[key] ?? null])), ...metadata }
}

/** Groups links by origin and relation; links to entries without a file use their ids. */
function groupedLinks(links: readonly Link[], nameOf: (id: string) => string | undefined): JsonObject {
  const origins = Map.groupBy(links, ({ origin }) => origin)
  return Object.fromEntries(
    [...origins].map(([origin, all]) => {
      const relations = Map.groupBy(all, ({ relation }) => relation)
      const named = [...relations].map(([relation, some]): [string, JsonValue] => [
        relation,
        some.map(({ to }) => {
          const name = nameOf(String(to))
          return name === undefined ? to : wikiLink(name, Number(to))
        }),
      ])
      return [origin, Object.fromEntries(named)]
    }),
  )
}

/** Quotes text that YAML would fold, trim or hide. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029]/u

function yamlOf(front: Record<string, unknown>): string {
  const document = new Document(front, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && HIDDEN.test(node.value)) node.type = Scalar.QUOTE_DOUBLE
      // All digits, as in volumes: YAML would round the last ones.
      if (typeof node.value === 'number' && Number.isInteger(node.value) && !Number.isSafeInteger(node.value))
        node.value = BigInt(node.value)
    },
  })
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
}

/** Returns the content of a file. */
export interface ReadFile {
  readonly record: EntryRecord
  /** Returns whether it differs from the exported content. */
  readonly isEdited: boolean
}

/** Returns the id of an exported file; null for another file. @throws RowProblem for front matter that is not valid YAML */
export function idOf(text: string): number | null {
  const { front } = readNote(text)
  const id = own(front, 'id')
  return front !== null && typeof id === 'number' && own(front, 'checksum') !== undefined ? id : null
}

/**
 * Reads a file.
 *
 * @param idOfName returns the id of the entry with this file name; null for none
 * @throws RowProblem
 */
export function readMarkdownFile(written: string, idOfName: (name: string) => number | null): ReadFile {
  // An editor, or git on Windows, may have changed all line endings.
  const text = written.startsWith('---\r\n') ? written.replaceAll('\r\n', '\n') : written
  const { front } = readNote(text)
  if (front === null) throw new RowProblem('has no front matter')
  const end = /\n(---|\.\.\.)[ \t]*(\n|$)/.exec(text)
  const yaml = text.slice(4, (end?.index ?? 0) + 1)
  const body = text.slice((end?.index ?? 0) + (end?.[0].length ?? 0))
  const content = body.endsWith('\n') ? body.slice(0, -1) : body
  const checksum = /^checksum: (.*)\n$/m.exec(yaml.slice(yaml.lastIndexOf('\nchecksum: ') + 1))?.[1]
  const isEdited =
    checksum !== checksumOf(yaml.slice(0, yaml.lastIndexOf('\nchecksum: ') + 1), content) || text !== written
  return { record: recordOf(front, content, idOfName), isEdited }
}

function recordOf(front: JsonObject, text: string, idOfName: (name: string) => number | null): EntryRecord {
  const say = (key: string): JsonValue => own(front, key) ?? null
  const links: Link[] = []
  const resolved = (value: JsonValue): { readonly to: number; readonly written: JsonValue } | null => {
    const [, name, alias] = (typeof value === 'string' && /^\[\[([^\]|]+)(?:\|([^\]]*))?\]\]$/.exec(value)) || []
    if (name === undefined) return null
    const to = idOfName(name.trim())
    // Text that only looks like a link stays text.
    return to === null ? null : { to, written: alias === String(to) ? alias : to }
  }
  const below = say('metadata')
  if (below !== null && !isJsonObject(below)) throw new RowProblem('metadata is not a map')
  const free = Object.entries(front).filter(([key]) => !MEMBERS.has(key))
  const all: JsonObject = { ...Object.fromEntries(free), ...(below ?? {}) }
  const metadata = withLinks(all, (value, relation) => {
    const link = resolved(value)
    if (link === null) return value
    const { to, written } = link
    if (!links.some((one) => one.relation === relation && one.to === to))
      links.push({ relation, to, origin: 'metadata' })
    return written
  })
  for (const link of namedLinks(say('links'), (value) => resolved(value)?.to ?? value))
    if (!links.some((one) => one.origin === link.origin && one.relation === link.relation && one.to === link.to))
      links.push(link)
  const lifted = extractMetadata(metadata, ANYBODY, null)
  const source = say('source')
  if (source !== 'user' && source !== 'agent') throw new RowProblem(`source is ${shown(source)}, not user or agent`)
  const [id, version, layer, weight] = [
    whole('id', say('id')),
    whole('version', say('version')),
    whole('entry_layer', say('entry_layer') ?? 2),
    whole('entry_weight', say('entry_weight') ?? lifted.weight ?? 3),
  ]
  return {
    record: 'entry',
    id,
    thread_id: textIn('thread', say('thread')) ?? '',
    source,
    text,
    metadata: Object.keys(metadata).length === 0 && below === null ? undefined : metadata,
    tags: normalizeTags(textsIn(say('tags'))),
    images: imagesIn(say('images')),
    project: textIn('entry_project', say('entry_project')) ?? lifted.project ?? undefined,
    agent: textIn('entry_agent', say('entry_agent')) ?? lifted.agent ?? undefined,
    created_at: timeIn('created', say('created')),
    updated_at: timeIn('updated', say('updated')),
    version,
    links,
    layer,
    weight,
    pinned: flagIn('entry_pinned', say('entry_pinned')) ?? lifted.pinned === true,
    expires_at:
      say('entry_expires_at') === null
        ? lifted.expiresAt === null
          ? undefined
          : iso(lifted.expiresAt)
        : timeIn('entry_expires_at', say('entry_expires_at')),
    archived: flagIn('entry_archived', say('entry_archived')) ?? false,
  }
}

function whole(name: string, value: JsonValue): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new RowProblem(`${name} is ${shown(value)}, which is not a whole number of 1 or more`)
}

function textIn(name: string, value: JsonValue): string | null {
  if (value === null) return null
  // An editor may write a number-like name without quotes.
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw new RowProblem(`${name} is not a string`)
  return textOf(value)
}

function flagIn(name: string, value: JsonValue): boolean | null {
  if (value === null || typeof value === 'boolean') return value
  throw new RowProblem(`${name} is ${shown(value)}, not true or false`)
}

function timeIn(name: string, value: JsonValue): string {
  const at = typeof value === 'string' ? parseInstant(value.trim()) : null
  if (at === null) throw new RowProblem(`${name} is not a time: ${shown(value)}`)
  return iso(at)
}

/** Reads tags as a list, or as comma-separated text, as some editors write them. */
function textsIn(value: JsonValue): string[] {
  if (value === null) return []
  const list = typeof value === 'string' ? value.split(',').map((tag) => tag.trim().replace(/^#/, '')) : value
  if (!Array.isArray(list)) throw new RowProblem('tags are not a list')
  return list.flatMap((tag) => (tag === null || typeof tag === 'object' ? [] : [String(tag)]))
}

function imagesIn(value: JsonValue): Image[] {
  if (value === null) return []
  if (!Array.isArray(value)) throw new RowProblem('images are not a list')
  return value.map((image) => {
    const { sha256, mime_type, size, metadata } = isJsonObject(image) ? image : {}
    if (typeof sha256 !== 'string' || typeof mime_type !== 'string' || typeof size !== 'number')
      throw new RowProblem('an image lacks sha256, mime_type or size')
    return { sha256, mime_type, size, ...(typeof metadata === 'string' || isJsonObject(metadata) ? { metadata } : {}) }
  })
}

function namedLinks(value: JsonValue, idIn: (value: JsonValue) => JsonValue): Link[] {
  if (value === null) return []
  if (!isJsonObject(value)) throw new RowProblem('links is not a map of origin, relation and entries')
  return Object.entries(value).flatMap(([origin, relations]) => {
    if (origin !== 'metadata' && origin !== 'remember' && origin !== 'system')
      throw new RowProblem(`links has the unknown origin ${shown(origin)}`)
    return Object.entries(isJsonObject(relations) ? relations : {}).flatMap(([relation, targets]) =>
      [targets].flat().map((target): Link => {
        const to = idIn(target ?? null)
        if (typeof to !== 'number') throw new RowProblem(`links names ${shown(to)}, which is not a file of the folder`)
        return { relation, to, origin }
      }),
    )
  })
}
