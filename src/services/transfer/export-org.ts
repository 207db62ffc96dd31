import { invalidInput } from '../../domain/errors'
import type { CursorSeal } from '../../domain/history/cursor'
import type { Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { DAY_MS } from '../../domain/time'
import { MAX_VOLUME_BYTES, MAX_VOLUME_ENTRIES } from '../../domain/transfer/records'
import type { TextSeal } from '../../domain/transfer/seal'
import { type ManifestOfAll, manifestOf, VolumeWriter } from '../../domain/transfer/volume-writer'
import type { Clock } from '../../ports/clock'
import type { ExportSelection, ExportStore } from '../../ports/export-store'
import type { ImageStore } from '../../ports/image-store'
import { createExportPages, type Place, START } from './export-pages'

/** What an export is asked for. */
export interface ExportRequest {
  readonly project: string | null
  /** A cursor of the feed: only what has changed since. */
  readonly after: string | null
  readonly history: boolean
  readonly vectors: boolean
  readonly images: boolean
}

/** An export that goes on: all that its volumes have in common, and where the next one begins. */
interface Going extends Omit<ManifestOfAll, 'org'> {
  readonly store: string
  readonly selection: ExportSelection & { readonly images: boolean }
  /** Whose it is: another credential does not go on with it. */
  readonly keyId: string
  readonly volume: number
  readonly place: Place
  /** Milliseconds since 1970. */
  readonly ends: number
}

export interface ExportOptions {
  /** Entries a volume. */
  readonly limit: number
  /** Volumes that are written at most; without it as many as a request carries. */
  readonly volumes?: number
}

/** A part of an export: its bytes, or that a volume is whole. */
type ExportPart =
  | { readonly bytes: Uint8Array }
  | { readonly volume: number; readonly next: string | null; readonly content: string; readonly entries: number }

/** How long an export may be gone on with. */
const GOES_ON_MS = DAY_MS
/** Statements and reads of objects of one request: D1 takes 1,000 an invocation. */
const MOST_COST = 600

const staleAfter = () =>
  invalidInput(
    'after is no cursor that the changes since are still known of; make a new export without it, and go on from its cursor',
    { resync_from: 'export' },
  )
const staleFrom = () =>
  invalidInput('from is no place of an export of this credential that still goes on (24 hours); begin a new export', {
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
    const { project, after, history, vectors, images: withImages } = request
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
      selection: { until: newest, after: behind, project, history, vectors, images: withImages },
      ...{ keyId, volume: 1, place: START, ends: now + GOES_ON_MS },
    }
  }

  async function resume(scope: Scope, keyId: string, from: string): Promise<Going> {
    const text = await (await places()).open(scope.org, from)
    if (text === null) throw staleFrom()
    // What this deployment has sealed is as it was.
    const going: Going = JSON.parse(text)
    if (going.keyId !== keyId || going.ends < clock.now()) throw staleFrom()
    return going
  }

  /** The volumes from a place on. It yields between records: a reader that compresses them waits for nothing else. */
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
      // A request ends between two ids, where the next one need not read anything twice.
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
    /** @throws Problem invalid_input for a cursor that is too old */
    begin,
    /** @throws Problem invalid_input for a place that is no place of the caller's, or is over */
    resume,
    parts,
  }
}
