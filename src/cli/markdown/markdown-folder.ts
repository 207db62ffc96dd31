// Reads and writes a folder of Markdown files, one per memory: its content, its update by an export, and its import.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ContentSum, KnownIds } from '../../domain/transfer/content-checksum'
import type { CarriedRecord, EntryRecord, RecordOf } from '../../domain/transfer/records'
import { readVolumes } from '../../domain/transfer/volume-reader'
import { writeVolumes } from '../../domain/transfer/volume-writer'
import { Collector } from '../import/collector'
import { filesBelow, readText } from '../import/files'
import type { Plan } from '../import/plan'
import { RowProblem, SourceProblem } from '../import/values'
import {
  ATTACHMENTS,
  attachmentOf,
  fileNameOf,
  folderOf,
  idOf,
  type ReadFile,
  readMarkdownFile,
  writeMarkdown,
} from './markdown-file'

const MARKER = '.commonplace.json'
const FORMAT = 'commonplace-markdown/1'
const ENDING = /\.md$/i

/** The store that the folder was exported from. */
interface Marker {
  readonly format: typeof FORMAT
  /** Whose ids: the manifest's. */
  readonly store: string
  readonly project?: string
}

/** Returns whether an export wrote the folder. */
const isMarkdownFolder = (path: string): boolean => existsSync(join(path, MARKER))

/** @throws SourceProblem */
export function readMarker(path: string): Marker {
  try {
    const marker = JSON.parse(readFileSync(join(path, MARKER), 'utf8'))
    if (marker.format === FORMAT && typeof marker.store === 'string') return marker
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new SourceProblem(`${join(path, MARKER)} does not have the format ${FORMAT}`)
}

interface Placed {
  readonly id: number
  /** Path from the root of the folder, with `/`. */
  readonly path: string
  readonly text: string
}

const nameOfPath = (path: string): string => basename(path).replace(ENDING, '')

/** The files of a folder, by the ids in their front matter. */
class Files {
  readonly byId = new Map<string, Placed>()
  private readonly byName = new Map<string, number>()
  /** Files that cannot be read, or have the id of another file. */
  readonly others: { readonly where: string; readonly message: string }[] = []
  /** Number of files that are not from an export. */
  foreign = 0

  constructor(readonly root: string) {
    const { files, problems } = filesBelow(root, ENDING)
    this.others.push(...problems)
    for (const { path, name } of files)
      try {
        const text = readText(path)
        const id = idOf(text.startsWith('---\r\n') ? text.replaceAll('\r\n', '\n') : text)
        const before = this.byId.get(String(id))
        if (id === null) this.foreign++
        else if (before !== undefined)
          this.others.push({ where: name, message: `has the same id ${id} as ${before.path}, which is used` })
        else this.place({ id, path: name, text })
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error
        this.others.push({ where: name, message: error.message })
      }
  }

  place(placed: Placed): void {
    this.remove(placed.id)
    this.byId.set(String(placed.id), placed)
    this.byName.set(nameOfPath(placed.path).toLowerCase(), placed.id)
  }

  remove(id: number): void {
    const before = this.byId.get(String(id))
    if (before === undefined) return
    this.byId.delete(String(id))
    this.byName.delete(nameOfPath(before.path).toLowerCase())
  }

  /** @param name of a wiki link: a path, or the name of a file */
  readonly idOfName = (name: string): number | null => this.byName.get(nameOfPath(name).toLowerCase()) ?? null

  read(placed: Placed): ReadFile {
    return readMarkdownFile(placed.text, this.idOfName)
  }

  /** Returns whether a person has edited the file since it was written. */
  isEdited(placed: Placed): boolean {
    try {
      return this.read(placed).isEdited
    } catch (error) {
      if (error instanceof RowProblem) return true
      throw error
    }
  }
}

/** The changes that an export made to a folder. */
export interface Brought {
  written: number
  removed: number
  unchanged: number
  /** Captured sessions, which are not exported before a person approves them. */
  captured: number
  /** Files that a person has edited, and that were not changed. */
  readonly kept: string[]
  /** Cursor to continue from. */
  cursor: string | undefined
}

interface Bringing {
  readonly project: string | null
  /** Whether the export has every entry: files of other entries are removed. */
  readonly isComplete: boolean
  /** The entries whose files are updated; null for all. */
  readonly only: ReadonlySet<string> | null
}

/**
 * Updates a folder from an export.
 *
 * @param open starts a pass over the bytes of the export's volumes
 * @throws SourceProblem if the folder belongs to another store
 */
export async function updateFolder(
  root: string,
  open: () => AsyncIterable<Uint8Array>,
  { project, isComplete, only }: Bringing,
): Promise<Brought> {
  const brought: Brought = { written: 0, removed: 0, unchanged: 0, captured: 0, kept: [], cursor: undefined }
  const seen = new Set<string>()
  const gone: number[] = []
  const images = new Set<string>()
  const names = new Map<string, string>()
  let files: Files | null = null
  for await (const { record } of readVolumes(open())) {
    if (record.record === 'manifest' && files === null) {
      claim(root, record, project)
      files = new Files(root)
      for (const [id, { path }] of files.byId) names.set(id, nameOfPath(path))
    }
    if (record.record === 'manifest') brought.cursor = record.cursor
    if (record.record === 'gone') gone.push(Number(record.id))
    if (record.record !== 'entry') continue
    if (record.captured === true) brought.captured++
    else {
      seen.add(String(record.id))
      if (!names.has(String(record.id))) names.set(String(record.id), fileNameOf(record))
      for (const image of record.images ?? []) images.add(attachmentOf(image))
    }
  }
  if (files === null) throw new SourceProblem('the export has no manifest')
  const folder = files
  for await (const { record } of readVolumes(open())) {
    if (record.record === 'image') writeAttachment(root, record, images)
    if (record.record !== 'entry' || !seen.has(String(record.id))) continue
    if (only !== null && !only.has(String(record.id))) continue
    bringOne(folder, record, (id) => names.get(id), brought)
  }
  const removable = isComplete ? [...folder.byId.values()].filter(({ id }) => !seen.has(String(id))) : []
  const named = gone.flatMap((id) => folder.byId.get(String(id)) ?? [])
  for (const placed of new Set([...removable, ...named])) removeOne(folder, placed, brought)
  if (isComplete) removeAttachments(root, images)
  return brought
}

/** Writes the marker file. @throws SourceProblem if the folder belongs to another store, or has files that are not from an export */
function claim(root: string, { store }: RecordOf<'manifest'>, project: string | null): void {
  mkdirSync(root, { recursive: true })
  if (isMarkdownFolder(root)) {
    const marker = readMarker(root)
    if (marker.store !== store) throw new SourceProblem(`${root} has the memories of another organization`)
    if ((marker.project ?? null) !== project)
      throw new SourceProblem(
        `${root} has ${marker.project === undefined ? 'all projects' : `the project ${marker.project}`}; name another folder`,
      )
    return
  }
  if (readdirSync(root).some((name) => !name.startsWith('.')))
    throw new SourceProblem(`${root} is not empty, and is not from an export; use a new folder`)
  const marker: Marker = { format: FORMAT, store, ...(project === null ? {} : { project }) }
  replaceFile(join(root, MARKER), `${JSON.stringify(marker, null, 2)}\n`)
}

/** Writes a file under its name only when it is complete. */
function replaceFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = join(dirname(path), `.${createHash('sha256').update(path).digest('hex').slice(0, 16)}.unfinished`)
  writeFileSync(unfinished, content)
  renameSync(unfinished, path)
}

function bringOne(
  files: Files,
  record: EntryRecord,
  nameOf: (id: string) => string | undefined,
  brought: Brought,
): void {
  const before = files.byId.get(String(record.id))
  const text = writeMarkdown(record, nameOf)
  const own = `${folderOf(record)}/${nameOf(String(record.id))}.md`
  if (before === undefined) {
    // A file with that name that cannot be parsed is being written by another program.
    if (existsSync(join(files.root, own))) {
      brought.kept.push(own)
      return
    }
  } else if (before.text !== text && isUnsaved(files, before, record, nameOf, text)) {
    brought.kept.push(before.path)
    return
  }
  const path = before === undefined || isMoved(before, own, files) ? own : before.path
  if (before?.text === text && before.path === path) {
    brought.unchanged++
    return
  }
  replaceFile(join(files.root, path), text)
  if (before !== undefined && before.path !== path) removeFile(files.root, before.path)
  files.place({ id: Number(record.id), path, text })
  brought.written++
}

/** Returns whether a file has edits that are not in the store. */
function isUnsaved(
  files: Files,
  placed: Placed,
  record: EntryRecord,
  nameOf: (id: string) => string | undefined,
  text: string,
): boolean {
  try {
    const { record: there, isEdited } = files.read(placed)
    if (!isEdited) return false
    const { updated_at, version } = record
    return writeMarkdown({ ...there, updated_at, version }, nameOf) !== text
  } catch (error) {
    if (error instanceof RowProblem) return true
    throw error
  }
}

/** Returns whether a file is in the folder of its former project and kind; a file that a person has moved stays where it is. */
function isMoved(before: Placed, own: string, files: Files): boolean {
  if (dirname(before.path) === dirname(own)) return false
  return dirname(before.path) === placeOf(before, files)
}

/** Returns the folder in which a file was written, by its front matter; without a kind there, that of its folder. */
function placeOf(before: Placed, files: Files): string | null {
  try {
    const { record } = files.read(before)
    const kind = basename(dirname(before.path))
    const named = record.metadata?.kind ?? record.metadata?.type
    return folderOf({ project: record.project, kind: typeof named === 'string' ? named : kind })
  } catch (error) {
    if (error instanceof RowProblem) return null
    throw error
  }
}

function removeOne(files: Files, placed: Placed, brought: Brought): void {
  if (files.isEdited(placed)) {
    brought.kept.push(placed.path)
    return
  }
  removeFile(files.root, placed.path)
  files.remove(placed.id)
  brought.removed++
}

/** Removes a file, and folders that become empty. */
function removeFile(root: string, path: string): void {
  rmSync(join(root, path), { force: true })
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    try {
      rmdirSync(join(root, folder))
    } catch {
      return
    }
}

function writeAttachment(root: string, image: RecordOf<'image'>, used: ReadonlySet<string>): void {
  const path = attachmentOf(image)
  if (image.data === undefined || !used.has(path) || existsSync(join(root, path))) return
  replaceFile(join(root, path), Buffer.from(image.data, 'base64'))
}

function removeAttachments(root: string, used: ReadonlySet<string>): void {
  const folder = join(root, ATTACHMENTS)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder))
    if (/^[0-9a-f]{64}\.\w+$/.test(name) && !used.has(`${ATTACHMENTS}/${name}`))
      removeFile(root, `${ATTACHMENTS}/${name}`)
}

/** The entries that an import of a folder would store. */
export interface FolderPlan extends Omit<Plan, 'volumes'> {
  /** Ids of edited files. */
  readonly edited: readonly number[]
  /** @param ids the entries to send; null for all */
  readonly volumes: (ids: ReadonlySet<number> | null) => ReturnType<typeof writeVolumes>
}

/**
 * Reads a folder of an export.
 *
 * @param at time of reading, ISO 8601
 * @throws SourceProblem
 */
export function planFolder(root: string, at: string): FolderPlan {
  const { store } = readMarker(root)
  const files = new Files(root)
  const collector = new Collector()
  for (const { where, message } of files.others) collector.refuse(where, message)
  for (let i = 0; i < files.foreign; i++)
    collector.skip('files that are not from an export: import them with --from markdown')
  const read = new Map<string, ReadFile>()
  for (const placed of files.byId.values())
    collector.take(placed.path, () => {
      const one = files.read(placed)
      const { thread_id: threadId, source, text, metadata = null, tags = [], created_at: created = at } = one.record
      read.set(String(placed.id), one)
      return { id: placed.id, threadId, source, text, metadata, tags, createdAt: Date.parse(created), layer: 2 }
    })
  const entries = collector.entries
    .toSorted((a, b) => Number(a.id) - Number(b.id))
    .flatMap(({ id, threadId, tags }) => {
      const one = read.get(String(id))
      return one === undefined ? [] : [{ ...one, record: { ...one.record, thread_id: threadId, tags } }]
    })
  const known = new KnownIds()
  for (const { record } of entries) known.note(record)
  const pictures = new Map<string, RecordOf<'image'>>()
  for (const { record } of entries)
    for (const image of record.images ?? [])
      if (!pictures.has(image.sha256)) pictures.set(image.sha256, pictureOf(root, image))
  for (const { sha256, missing } of pictures.values()) if (missing === true) known.noteMissing(sha256)
  const sum = new ContentSum()
  const threads = new Map<string, { entries: number; sum: ContentSum }>()
  for (const { record } of entries) {
    const thread = threads.get(record.thread_id) ?? { entries: 0, sum: new ContentSum() }
    thread.entries++
    for (const one of [sum, thread.sum]) one.add(record, known)
    threads.set(record.thread_id, thread)
  }
  const records = function* (ids: ReadonlySet<number> | null): Generator<CarriedRecord> {
    const sent = new Set<string>()
    for (const { record } of entries) {
      if (ids !== null && !ids.has(Number(record.id))) continue
      for (const { sha256 } of record.images ?? []) {
        const picture = pictures.get(sha256)
        if (picture === undefined || sent.has(sha256)) continue
        sent.add(sha256)
        yield picture
      }
      yield record
    }
  }
  return {
    store,
    entries: entries.length,
    images: pictures.size,
    links: entries.reduce((all, { record }) => all + (record.links?.length ?? 0), 0),
    threads: [...threads].map(([thread_id, thread]) => ({
      ...{ thread_id, entries: thread.entries, content: thread.sum.text },
    })),
    content: sum.text,
    refused: collector.notices.filter(({ refused }) => refused),
    notes: collector.notices.filter(({ refused }) => !refused),
    skipped: Object.fromEntries(collector.skipped),
    edited: entries.flatMap(({ isEdited, record }) => (isEdited ? [Number(record.id)] : [])),
    volumes: (ids) => writeVolumes({ store, at }, records(ids), known),
  }
}

/** An image, with its bytes if the folder has them. */
function pictureOf(root: string, image: NonNullable<EntryRecord['images']>[number]): RecordOf<'image'> {
  const { sha256, mime_type, size } = image
  const path = join(root, attachmentOf(image))
  const bytes = existsSync(path) ? readFileSync(path) : null
  const isWhole = bytes !== null && createHash('sha256').update(bytes).digest('hex') === sha256
  return isWhole
    ? { record: 'image', sha256, mime_type, size: bytes.length, data: bytes.toString('base64') }
    : { record: 'image', sha256, mime_type, size, missing: true }
}
