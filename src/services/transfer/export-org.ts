import { invalidInput } from '../../domain/errors'
import type { CursorSeal } from '../../domain/history/cursor'
import type { Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { DAY_MS } from '../../domain/time'
import { ID_KEYS, type Inside, withIds } from '../../domain/transfer/content-checksum'
import {
  type CarriedRecord,
  type EntryRecord,
  MAX_VOLUME_BYTES,
  MAX_VOLUME_ENTRIES,
} from '../../domain/transfer/records'
import { encodeBase64, type TextSeal } from '../../domain/transfer/seal'
import { type ManifestOfAll, manifestOf, VolumeWriter } from '../../domain/transfer/volume-writer'
import type { Clock } from '../../ports/clock'
import type { Exported, ExportSelection, ExportStore, Named, ToExport, VersionRecord } from '../../ports/export-store'
import type { ImageStore } from '../../ports/image-store'

/** IDs that are listed together. */
const LISTED = 1_000
/** Bytes of a page; memory use is a multiple of it. */
const PAGE_BYTES = 3_000_000
/** Rows of the change log that are read together. */
const CHANGES = 10_000

/** Progress of an export: everything before `id`, and a number of records of `id` other than images. */
export interface Place {
  readonly id: number
  readonly skip: number
}

export const START: Place = { id: 0, skip: 0 }

interface PlacedRecord {
  readonly record: CarriedRecord
  /** Position where an export continues that ends before this record. */
  readonly at: Place
}

interface ExportPages extends Inside {
  /** Yields records from a position on. */
  readonly records: (from: Place) => AsyncGenerator<PlacedRecord>
  /** Returns the statements and object reads so far. */
  readonly cost: () => number
}

const namedBy = ({ metadata, links = [] }: EntryRecord | VersionRecord): number[] => {
  const ids = links.map(({ to }) => Number(to))
  if (metadata !== undefined && [...ID_KEYS, 'references'].some((key) => Object.hasOwn(metadata, key)))
    withIds(metadata, (id) => {
      ids.push(Number(id))
      return id
    })
  return ids.filter((id) => Number.isSafeInteger(id) && id > 0)
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createExportPages(
  { store, images }: { readonly store: ExportStore; readonly images: Pick<ImageStore, 'get'> },
  scope: Scope,
  selection: ExportSelection & { readonly images: boolean },
): ExportPages {
  const { after } = selection
  let cost = 0
  let named: Named = { inside: new Map(), linkable: new Set() }
  let firsts: ReadonlyMap<string, number> = new Map()
  /** Whether the bytes of each image in this request exist. */
  const checkedImages = new Map<string, boolean>()

  const paid = <T>(n: number, step: Promise<T>): Promise<T> => {
    cost += n
    return step
  }

  /** Lists what to export from an ID on, in order. */
  async function* toExport(from: number): AsyncGenerator<ToExport[]> {
    if (after === null) {
      for (let beyond = from - 1; ; ) {
        const part: readonly ToExport[] = await paid(1, store.list(scope, selection, beyond, LISTED))
        if (part.length > 0) yield [...part]
        if (part.length < LISTED) return
        beyond = part.at(-1)?.id ?? beyond
      }
    }
    const changed = new Set<number>()
    for (let last: number | null = after; last !== null; ) {
      const part: { ids: readonly number[]; last: number | null } = await paid(
        1,
        store.changed(scope, last, selection.until, CHANGES),
      )
      for (const id of part.ids) if (id >= from) changed.add(id)
      last = part.last
    }
    const ids = [...changed].sort((a, b) => a - b)
    for (let i = 0; i < ids.length; i += LISTED)
      yield [...(await paid(2, store.listChanged(scope, selection, ids.slice(i, i + LISTED))))]
  }

  /** Groups IDs that are read together; an entry larger than a page is alone. */
  function pagesOf(part: readonly ToExport[]): ToExport[][] {
    const pages: ToExport[][] = []
    let bytes = PAGE_BYTES
    for (const one of part) {
      bytes += one.bytes
      if (bytes > PAGE_BYTES || pages.length === 0) {
        pages.push([])
        bytes = one.bytes
      }
      pages.at(-1)?.push(one)
    }
    return pages
  }

  async function lookUp(exported: readonly Exported[]): Promise<void> {
    const states = exported.flatMap(({ entry, versions }) => [...(entry === null ? [] : [entry]), ...versions])
    const ids = [...new Set(states.flatMap(namedBy))]
    const hashes = [...new Set(states.flatMap(({ images: shown = [] }) => shown.map(({ sha256 }) => sha256)))]
    named = await paid(ids.length === 0 ? 0 : 2, store.named(scope, selection, ids))
    firsts = selection.images
      ? await paid(hashes.length === 0 ? 0 : 1, store.firstUses(scope, selection, hashes))
      : new Map()
  }

  const linked = <T extends EntryRecord | VersionRecord>(state: T): T => ({
    ...state,
    links: (state.links ?? []).filter(({ to }) => named.linkable.has(Number(to))),
  })

  /** Yields images before the record of `id` that uses them first. */
  async function* imagesOf(id: number, state: EntryRecord | VersionRecord): AsyncGenerator<CarriedRecord> {
    if (!selection.images) return
    for (const { sha256, mime_type, size } of state.images ?? []) {
      if (checkedImages.has(sha256)) continue
      const bytes = await paid(1, images.get(scope, sha256))
      checkedImages.set(sha256, bytes !== null)
      // An earlier request sent this image; it is read only for `content`.
      if (id > (firsts.get(sha256) ?? id)) continue
      yield bytes === null
        ? { record: 'image', sha256, mime_type, size, missing: true }
        : { record: 'image', sha256, mime_type, size: bytes.length, data: encodeBase64(bytes) }
    }
  }

  /** Yields the records of one ID, from a position on. */
  async function* group(one: Exported, gone: boolean, skip: number, begun: number): AsyncGenerator<PlacedRecord> {
    const { id } = one
    let passed = begun
    const own: CarriedRecord[] = [
      ...(gone ? [{ record: 'gone' as const, id }] : []),
      ...(one.entry === null ? [] : [linked(one.entry)]),
      ...one.versions.map(linked),
      ...one.vectors,
    ]
    for (const record of own) {
      const at = { id, skip: passed }
      if (passed >= skip) {
        if (record.record === 'entry' || record.record === 'version')
          for await (const image of imagesOf(id, record)) yield { record: image, at }
        yield { record, at }
      }
      passed++
    }
  }

  /** Yields an entry whose retained versions exceed a page, part by part. */
  async function* large(one: ToExport, skip: number): AsyncGenerator<PlacedRecord> {
    let passed = 0
    for (let beyond = 0; ; ) {
      const bounds = { beyond, maxBytes: PAGE_BYTES }
      const { exported, moreVersions } = await paid(4, store.read(scope, selection, [one.id], bounds))
      const [read] = exported
      if (read === undefined) return
      await lookUp(exported)
      const first = beyond === 0
      const part = { ...read, entry: first ? read.entry : null, vectors: moreVersions ? [] : read.vectors }
      const gone = first && one.what === 'gone'
      yield* group(part, gone, skip, passed)
      passed += Number(gone) + Number(part.entry !== null) + part.versions.length + part.vectors.length
      if (!moreVersions) return
      beyond = part.versions.at(-1)?.version ?? Number.MAX_SAFE_INTEGER
    }
  }

  return {
    async *records(from) {
      for await (const part of toExport(from.id))
        for (const page of pagesOf(part)) {
          const [only] = page
          const skipOf = (id: number) => (id === from.id ? from.skip : 0)
          if (only !== undefined && only.bytes > PAGE_BYTES) {
            yield* large(only, skipOf(only.id))
            continue
          }
          const kinds = new Map(page.map(({ id, what }) => [id, what]))
          const ids = page.map(({ id }) => id)
          const bounds = { beyond: 0, maxBytes: Number.MAX_SAFE_INTEGER }
          const { exported } = await paid(4, store.read(scope, selection, ids, bounds))
          await lookUp(exported)
          for (const one of exported) yield* group(one, kinds.get(one.id) === 'gone', skipOf(one.id), 0)
        }
    },
    stable: (id) => named.inside.get(Number(id)) ?? null,
    isMissing: (sha256) => checkedImages.get(sha256) === false,
    cost: () => cost,
  }
}

/** The arguments of an export. */
export interface ExportRequest {
  readonly project: string | null
  /** A cursor of the feed, to export only later changes. */
  readonly after: string | null
  /** Only entries of this owner; absent for those of everyone. */
  readonly owner?: string
  readonly history: boolean
  readonly vectors: boolean
  readonly images: boolean
}

/** A running export: the manifest of its volumes, and where the next one starts. */
interface Going extends Omit<ManifestOfAll, 'org'> {
  readonly store: string
  readonly selection: ExportSelection & { readonly images: boolean }
  /** The key of the export; another credential cannot continue it. */
  readonly keyId: string
  readonly volume: number
  readonly place: Place
  /** Milliseconds since 1970. */
  readonly ends: number
}

export interface ExportOptions {
  /** Entries per volume. */
  readonly limit: number
  /** Maximum volumes; by default as many as a request can write. */
  readonly volumes?: number
}

/** A part of an export: bytes, or the end of a volume. */
type ExportPart =
  | { readonly bytes: Uint8Array }
  | { readonly volume: number; readonly next: string | null; readonly content: string; readonly entries: number }

/** Time within which an export can be continued. */
const GOES_ON_MS = DAY_MS
/** Statements and object reads of one request: D1 allows 1,000 per invocation. */
const MOST_COST = 600

const staleAfter = () =>
  invalidInput('The cursor in after has expired. Start a new export without after, and continue from its cursor', {
    resync_from: 'export',
  })
const staleFrom = () =>
  invalidInput('from is not a position in a running export of this credential (24 hours). Start a new export', {
    resync_from: 'export',
  })

export type ExportOrg = ReturnType<typeof createExportOrg>

export function createExportOrg(dependencies: {
  readonly store: ExportStore
  readonly images: Pick<ImageStore, 'get'>
  readonly cursors: () => Promise<CursorSeal>
  readonly places: () => Promise<TextSeal>
  readonly clock: Clock
}) {
  const { store, images, cursors, places, clock } = dependencies

  const optional = (name: string, value: string | null) => (value === null ? {} : { [name]: value })

  async function begin(scope: Scope, keyId: string, request: ExportRequest): Promise<Going> {
    const { project, after, owner, history, vectors, images: withImages } = request
    const seal = await cursors()
    const behind = after === null ? null : await seal.open(scope.org, after)
    const { store: name, newest, forgotten } = await store.begin(scope)
    if (after !== null && (behind === null || behind < forgotten || behind > newest)) throw staleAfter()
    const now = clock.now()
    return {
      store: name,
      at: new Date(now).toISOString(),
      cursor: await seal.seal(scope.org, newest),
      ...optional('after', after),
      ...optional('project', project),
      selection: {
        ...{ until: newest, after: behind, project, history, vectors, images: withImages },
        ...(owner === undefined ? {} : { owner }),
      },
      ...{ keyId, volume: 1, place: START, ends: now + GOES_ON_MS },
    }
  }

  async function resume(scope: Scope, keyId: string, from: string, owner?: string): Promise<Going> {
    const text = await (await places()).open(scope.org, from)
    if (text === null) throw staleFrom()
    // The deployment itself sealed this state, so it is not validated.
    const going: Going = JSON.parse(text)
    if (going.keyId !== keyId || going.ends < clock.now() || going.selection.owner !== owner) throw staleFrom()
    return going
  }

  /** Yields volumes from a position on. It yields between records, so that a compressing reader can work. */
  async function* parts(scope: Scope, going: Going, { limit, volumes }: ExportOptions): AsyncGenerator<ExportPart> {
    const { selection, keyId: _, volume: first, place, ends: __, ...rest } = going
    const all: ManifestOfAll = { org: scope.org, ...rest }
    const pages = createExportPages({ store, images }, scope, selection)
    const limits = { entries: Math.min(limit, MAX_VOLUME_ENTRIES), bytes: MAX_VOLUME_BYTES }
    let number = first
    let entries = 0
    let writer = new VolumeWriter(manifestOf(all, number), pages, limits)
    yield { bytes: writer.begin() }
    if (number === 1 && place.id === 0)
      for (const record of await store.projects(scope, selection.project)) {
        const line = writer.add(record)
        if (line !== null) yield { bytes: line }
      }
    for await (const { record, at } of pages.records(place)) {
      // A request ends between two IDs, so that the next one reads nothing twice.
      const isSpent = pages.cost() >= MOST_COST && at.skip === 0
      let line = isSpent ? null : writer.add(record)
      if (line === null) {
        const next = await (await places()).seal(scope.org, JSON.stringify({ ...going, volume: number + 1, place: at }))
        const ended = writer.end(next)
        yield { bytes: ended.line }
        yield { volume: number, next, content: ended.content, entries }
        if (pages.cost() >= MOST_COST || number - first + 1 === volumes) return
        number++
        entries = 0
        writer = new VolumeWriter(manifestOf(all, number), pages, limits)
        yield { bytes: writer.begin() }
        line = writer.add(record)
      }
      if (record.record === 'entry') entries++
      if (line === null) continue
      await scheduler.tick(line.length / VOLUME_UNITS)
      yield { bytes: line }
    }
    const ended = writer.end()
    yield { bytes: ended.line }
    yield { volume: number, next: null, content: ended.content, entries }
  }

  return {
    /** Starts an export. @throws Problem invalid_input for an expired cursor */
    begin,
    /** Continues an export, of the same owner. @throws Problem invalid_input for an invalid or expired position */
    resume,
    parts,
  }
}
