import type { WriteLimits } from '../../domain/entry/draft'
import type { TextVector } from '../../domain/entry/entry'
import { detectImageType } from '../../domain/entry/image'
import { type JsonObject, own } from '../../domain/entry/metadata'
import { limitExceeded, Problem } from '../../domain/errors'
import { type HistoryTerms, historyCutoff } from '../../domain/history/version'
import { normalizeProject } from '../../domain/identity/project'
import type { Attachment } from '../../domain/identity/project-attachment'
import type { Caller, Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { createContentDifference, withIds } from '../../domain/transfer/content-checksum'
import { type ImportRules, type IncomingLink, incomingVersion, withoutImages } from '../../domain/transfer/incoming'
import type { EntryRecord, RecordId, RecordOf } from '../../domain/transfer/records'
import type { Clock } from '../../ports/clock'
import type { EntryStore } from '../../ports/entry-store'
import type { ExportStore } from '../../ports/export-store'
import type { ImageStore } from '../../ports/image-store'
import type { ImportedEntry, ImportedVersion, ImportStore, Remembered, Waiting } from '../../ports/import-store'
import { withRetries } from '../outcome'
import type { ResolveNames } from '../people/project-names'
import type { Generate } from '../writing/entries/generate'
import { type Decision, decideDeleted, decideEntry, isUntouched, type OnConflict, preservableId } from './decide'
import { batchesOf, type Lined, namedIn, type ParsedVolume, type Picture, readVolume } from './parsed-volume'
import {
  asProblem,
  checkQuota,
  conflictOf,
  countOutcome,
  emptyReport,
  type ImportOutcome,
  type ImportReport,
  noteProblem,
} from './report'
import { noteSecretScan, withoutSecrets } from './scan-records'

export interface ImageDependencies {
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly images: ImageStore
  /** Returns the bytes of an image in the backups. */
  readonly spare: (org: string, hash: string) => Promise<Uint8Array | null>
  readonly entries: Pick<EntryStore, 'imageRemovals'>
  readonly limits: WriteLimits
}

export interface IncomingImages {
  /** Images without bytes in the volume and in the store; they are removed from their entries. */
  readonly missing: ReadonlySet<string>
  /** Uploads missing bytes. @returns the pending removals that do not affect these images */
  put(): Promise<readonly number[]>
}

function refusalOf({ images, limits }: ImageDependencies, bytes: Uint8Array): Problem | null {
  if (images.refusal !== null) return new Problem('unsupported', images.refusal)
  if (detectImageType(bytes) === null)
    return new Problem('invalid_input', 'The image is not a PNG, JPEG, GIF or WebP image; it is left off')
  if (bytes.length > limits.each) return limitExceeded(`The image is larger than ${limits.each} bytes; it is left off`)
  return null
}

/** Classifies the images of a volume: included, stored, or missing. Writes nothing. */
async function classifyImages(
  on: ImageDependencies,
  caller: Caller,
  volume: ParsedVolume,
  report: ImportReport,
): Promise<IncomingImages> {
  const { seen: here, hidden } = await on.imports.imagesInUse(caller, [...volume.images])
  const comes = new Map<string, Picture>()
  for (const picture of volume.pictures.splice(0)) {
    const { line, hash, bytes } = picture
    if (here.has(hash)) continue
    const problem = refusalOf(on, bytes)
    if (problem === null) comes.set(hash, picture)
    else noteProblem(report, line, null, problem)
  }
  const missing = new Set<string>()
  const kept = new Set<string>()
  for (const hash of new Set([...volume.images, ...here])) {
    if (comes.has(hash)) continue
    // An earlier volume of the file, or a backup of the organization, may have the bytes. Images that only appear in entries of
    // others count as missing for the importer.
    if (here.has(hash) || (!hidden.has(hash) && (await on.images.get(caller, hash)) !== null)) report.images.present++
    else {
      const mayHave = caller.isWhole === true && on.images.refusal === null
      const spare = mayHave ? await on.spare(caller.org, hash) : null
      if (spare !== null && refusalOf(on, spare) === null) kept.add(hash)
      else missing.add(hash)
    }
  }
  report.images.stored = comes.size + kept.size
  report.images.missing = missing.size
  return {
    missing,
    async put() {
      const removals = volume.images.size === 0 ? [] : await on.entries.imageRemovals(caller, [...volume.images])
      for (const [hash, { bytes }] of comes) {
        const mimeType = detectImageType(bytes)
        if (mimeType !== null) await on.images.put(caller, { hash, mimeType, bytes })
        comes.delete(hash)
        await scheduler.tick(bytes.length)
      }
      for (const hash of kept) {
        const bytes = await on.spare(caller.org, hash)
        const mimeType = bytes === null ? null : detectImageType(bytes)
        if (bytes !== null && mimeType !== null) await on.images.put(caller, { hash, mimeType, bytes })
      }
      return removals
    },
  }
}

export interface VectorDependencies {
  readonly imports: Pick<ImportStore, 'withoutVectors'>
  /** Computes vectors locally; null if they are computed later. */
  readonly generate: Generate | null
  /** The model whose vectors are imported; `every` imports all vectors, null (semantic search is off) none. */
  readonly model: { readonly key: string; readonly dimensions: number } | 'every' | null
}

type VectorRecord = RecordOf<'vector'>

/** Reports whether a packed vector has these dimensions: `scale:base64`, one byte per number. */
function isVectorOf(data: string, dimensions: number): boolean {
  const base64 = data.slice(data.indexOf(':') + 1).replaceAll('=', '')
  return Math.floor((base64.length * 3) / 4) === dimensions
}

/** Returns the vectors of the server's model, or of every model; null for none. */
export function vectorsOf({ model }: VectorDependencies, records: readonly VectorRecord[]): TextVector[] | null {
  if (model === null) return null
  const ofModel =
    model === 'every'
      ? records
      : records.filter((one) => one.model === model.key && isVectorOf(one.data, model.dimensions))
  if (ofModel.length === 0) return null
  return ofModel.map(({ model: key, chunk, start, length, data }) => ({ model: key, chunk, start, length, data }))
}

/**
 * Computes vectors of entries whose file has none if that is possible locally, otherwise queues them. Captured entries get theirs when a person
 * approves them.
 */
export async function withVectors(
  { generate, model }: VectorDependencies,
  entries: readonly ImportedEntry[],
): Promise<ImportedEntry[]> {
  if (model === null || model === 'every') return [...entries]
  const isBare = ({ vectors, entry }: ImportedEntry) => vectors === null && entry.columns.captured !== 1
  const bare = entries.filter(isBare)
  if (generate === null || bare.length === 0)
    return entries.map((one) => (isBare(one) ? { ...one, queueVectors: true } : one))
  const texts = bare.map(({ entry }) => ({
    title: typeof entry.columns.title === 'string' ? entry.columns.title : null,
    text: entry.text,
    source: entry.columns.source === 'user' ? ('user' as const) : ('agent' as const),
  }))
  const made = await generate(texts, 'defer')
  const byId = new Map(bare.map(({ id }, i) => [id, made[i]?.vectors ?? null]))
  return entries.map((one) => {
    if (!isBare(one)) return one
    const vectors = byId.get(one.id) ?? null
    return { ...one, vectors, queueVectors: vectors === null }
  })
}

/** Returns vectors for entries that were imported without them by an earlier volume or batch. */
async function laterVectors(
  on: VectorDependencies,
  caller: Caller,
  records: ReadonlyMap<string, readonly VectorRecord[]>,
  given: { readonly known: ReadonlyMap<string, Remembered>; readonly taken: ReadonlySet<string>; readonly at: number },
) {
  if (on.model === null) return []
  const wanted = [...records].flatMap(([theirId, ofEntry]) => {
    const known = given.known.get(theirId)
    const vectors = vectorsOf(on, ofEntry)
    if (given.taken.has(theirId) || !known?.existing || known.existing.isReadOnly) return []
    if (vectors === null || !isUntouched(known, given.at)) return []
    return [{ id: known.entryId, version: known.existing.version, vectors }]
  })
  // A volume may end between two vectors of one entry; stored ones stay.
  if (on.model === 'every') return wanted
  const ids = wanted.map(({ id }) => id)
  const bare = await on.imports.withoutVectors(caller, on.model.key, ids)
  return wanted.filter(({ id }) => bare.has(id))
}

/** Maximum characters of IDs that are recorded. */
const MAX_ID = 256

/** Maps entries of a file to entries of this store. */
export class Mapping {
  /** Maps IDs of the file to IDs here, of everything that exists or gets an ID. */
  readonly ours = new Map<string, number>()
  private theirs: Map<number, string> | null = null
  /** Links of stored entries to deleted or unreadable ones, which exported files do not contain. */
  private readonly hidden = new Map<number, readonly IncomingLink[]>()

  /** @param known recorded imports by ID of the file */
  constructor(readonly known: Map<string, Remembered>) {
    for (const [id, { entryId }] of known) this.ours.set(id, entryId)
  }

  /**
   * Returns metadata and links with IDs of this store.
   *
   * An unknown ID stays in the metadata and creates no link. Links to deleted or unreadable entries stay, unless the metadata
   * that made them no longer name them.
   */
  mapped({ record, id: theirs, metadata, links = [] }: EntryRecord | RecordOf<'version'>): {
    readonly metadata: JsonObject | undefined
    readonly links: IncomingLink[]
  } {
    const named = new Set<string>()
    const mapped =
      metadata &&
      withIds(metadata, (id) => {
        const to = this.ours.get(String(id))
        named.add(String(to ?? id))
        return to === undefined ? id : typeof id === 'string' ? String(to) : to
      })
    const known = links.flatMap(({ relation, to, origin }) => {
      const here = this.ours.get(String(to))
      return here === undefined ? [] : [{ relation, to: here, origin }]
    })
    // The record of a past version contains its own links.
    const hidden = record === 'entry' ? (this.hidden.get(this.ours.get(String(theirs)) ?? 0) ?? []) : []
    const isTold = (link: IncomingLink) =>
      known.some(({ relation, to, origin }) => relation === link.relation && to === link.to && origin === link.origin)
    const stay = hidden.filter((link) => (link.origin !== 'metadata' || named.has(String(link.to))) && !isTold(link))
    return { metadata: mapped, links: [...known, ...stay] }
  }

  /** Collects links of stored entries to deleted or unreadable entries. @param read IDs that the caller can read */
  async keepHidden(
    standing: readonly EntryRecord[],
    read: (ids: readonly number[]) => Promise<ReadonlySet<number>>,
  ): Promise<void> {
    const linked = standing.flatMap(({ links = [] }) => links.map(({ to }) => Number(to)))
    const unknown = [...new Set(linked)].filter((id) => {
      const their = this.theirOf(id)
      return their === undefined || this.known.get(their)?.existing === null
    })
    if (unknown.length === 0) return
    const readable = await read(unknown)
    const hides = new Set(unknown.filter((id) => !readable.has(id)))
    for (const { id, links = [] } of standing) {
      const hidden = links.map((link) => ({ ...link, to: Number(link.to) })).filter(({ to }) => hides.has(to))
      this.hidden.set(Number(id), hidden)
    }
  }

  /** Returns the links of an entry to entries that are not imported yet. */
  waitingOf(record: EntryRecord): Waiting[] {
    const unknown = (id: string) => !this.ours.has(id) && id !== '' && id.length <= MAX_ID
    const waiting: Waiting[] = (record.links ?? [])
      .filter(({ to }) => unknown(String(to)))
      .map(({ relation, to, origin }) => ({ theirId: String(to), link: { relation, origin } }))
    const names = new Set<string>()
    namedIn({ ...record, links: [] }, (id) => names.add(id))
    for (const id of names) if (unknown(id)) waiting.push({ theirId: id, link: null })
    return waiting
  }

  /** Returns the pairs of IDs that differ: in the file, here. */
  differing(ids: readonly string[]): [RecordId, number][] {
    return ids.flatMap((id): [RecordId, number][] => {
      const ours = this.ours.get(id)
      return ours === undefined || String(ours) === id ? [] : [[preservableId(id) ?? id, ours]]
    })
  }

  /** Returns the ID in the file of an entry here. */
  theirOf(id: number): string | undefined {
    if (this.theirs?.size !== this.ours.size)
      this.theirs = new Map([...this.ours].map(([their, ours]) => [ours, their]))
    return this.theirs.get(id)
  }
}

export type ExistingEntries = Pick<ExportStore, 'read' | 'named'>

const EVERYTHING = { until: Number.MAX_SAFE_INTEGER, after: null, project: null, history: false, vectors: false }

/** Reads stored entries of the volume by ID, and records their links that the caller cannot read. */
async function existingEntriesOf(
  exports: ExistingEntries,
  scope: Scope,
  mapping: Mapping,
  records: readonly EntryRecord[],
): Promise<Map<number, EntryRecord>> {
  const ids = [...new Set(records.flatMap(({ id }) => mapping.ours.get(String(id)) ?? []))].sort((a, b) => a - b)
  if (ids.length === 0) return new Map()
  const { exported } = await exports.read(scope, EVERYTHING, ids, { beyond: 0, maxBytes: 0 })
  const entries = exported.flatMap(({ entry }) => entry ?? [])
  await mapping.keepHidden(entries, async (named) => (await exports.named(scope, EVERYTHING, named)).linkable)
  return new Map(entries.map((entry) => [Number(entry.id), entry]))
}

export interface ImportOptions {
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  /** Whether the records are edits of the versions that they name. */
  readonly edits?: boolean
  /** Whether an entry that was ever imported is not imported again, though it was deleted here. Secrets are removed. */
  readonly once?: boolean
  /** Whether the file is trusted: unused IDs and creator names are preserved. */
  readonly keepsIds: boolean
}

interface ImportDependencies extends ImageDependencies, VectorDependencies {
  readonly imports: ImportStore
  readonly exports: ExistingEntries
  readonly limits: WriteLimits
  readonly terms: HistoryTerms
  readonly clock: Clock
  /** `warn` reports texts that may contain secrets; `always` removes the secrets. */
  readonly redact?: 'warn' | 'always'
  readonly names: Pick<ResolveNames, 'each' | 'give'>
}

export type ImportVolume = ReturnType<typeof createImportVolume>

/** Creates the import of one volume (docs/contracts/operate.md §2). */
export function createImportVolume(dependencies: ImportDependencies) {
  return async (caller: Caller, chunks: AsyncIterable<Uint8Array>, options: ImportOptions): Promise<ImportReport> => {
    const volume = await readVolume(chunks)
    return new Import(dependencies, caller, options, volume).run()
  }
}

/** Returns the project in the metadata of a record; null for none. */
function projectIn({ metadata }: EntryRecord | RecordOf<'version'>): string | null {
  const name = own(metadata ?? null, 'project')
  return typeof name === 'string' && normalizeProject(name) !== null ? name : null
}

class Import {
  private readonly report: ImportReport
  private readonly intake: ImportRules
  private readonly store: string
  private readonly at: number
  private mapping = new Mapping(new Map())
  private readonly fates = new Map<string, ImportOutcome>()
  private images: IncomingImages = { missing: new Set(), put: async () => [] }
  private knownRemovals: readonly number[] = []
  /** Whether another request has changed entries of the volume since the plan. */
  private isContested = false
  private readonly difference = createContentDifference()
  /** IDs of records from which secrets are removed. */
  private readonly redacted: ReadonlySet<string>
  /** Keys of projects that the volume names differently. */
  private keys: ReadonlyMap<string, string> = new Map()
  private given: readonly Attachment[] = []

  constructor(
    private readonly on: ImportDependencies,
    private readonly caller: Caller,
    private readonly options: ImportOptions,
    private readonly volume: ParsedVolume,
  ) {
    const { manifest } = volume
    this.report = emptyReport(manifest.volume, options.dryRun)
    this.store = manifest.store
    this.at = Date.parse(manifest.at)
    const withSecrets = [...volume.screenings.values()].filter(({ kinds }) => kinds.length > 0)
    this.redacted = new Set(on.redact === 'always' || options.once ? withSecrets.map(({ id }) => String(id)) : [])
    const { org, projects, owner, isWhole } = caller
    this.intake = {
      scope: { org, projects, owner, ...(isWhole ? { isWhole } : {}) },
      keyId: caller.keyId,
      ...{ at: this.at, now: on.clock.now(), limits: on.limits, isTrusted: options.keepsIds },
    }
  }

  async run(): Promise<ImportReport> {
    const { volume, options, report, on, caller } = this
    this.images = await classifyImages(on, caller, volume, report)
    await this.recall()
    await this.findProjects()
    await this.plan()
    if (options.dryRun) return report
    await this.reserve()
    this.knownRemovals = await this.images.put()
    await on.names.give(caller, this.given)
    await this.takeProjects()
    for (const batch of batchesOf(volume)) await this.take(batch)
    await this.settle()
    // Deleted entries too: those that the file deletes, and those with only past versions in it.
    const ids = [...this.fates.keys(), ...volume.states].filter((id) => this.fates.get(id) !== 'refuse')
    report.map?.push(...this.mapping.differing(ids))
    report.content = this.difference.appliedTo(volume.end.content)
    return report
  }

  private async recall(): Promise<void> {
    const { ids, named } = this.volume
    const asked = [...new Set([...ids, ...named])].filter((id) => id.length <= MAX_ID)
    this.mapping = new Mapping(new Map(await this.on.imports.recall(this.intake.scope, this.store, asked)))
  }

  /**
   * Plans, and plans again if another request stored a part of the volume in between.
   *
   * @throws Problem conflict, limit_exceeded
   */
  private async plan(): Promise<void> {
    const { entries, problems } = this.report
    const [counts, noted] = [{ ...entries }, problems.length]
    for (let before = Number.NaN; ; ) {
      const takes = await this.planOnce()
      try {
        return checkQuota(await this.on.imports.remainingQuota(this.caller), takes)
      } catch (error) {
        // The quota includes entries that this plan did not find yet.
        if (takes.entries === before) throw error
        before = takes.entries
      }
      Object.assign(entries, counts)
      problems.length = noted
      delete this.report.warnings
      delete this.report.warned
      this.fates.clear()
      await this.recall()
    }
  }

  /** Decides about each entry before anything is written. @returns the entries and bytes it needs @throws Problem conflict */
  private async planOnce(): Promise<{ readonly entries: number; readonly bytes: number }> {
    const { report, options, volume, fates } = this
    const takes = { entries: 0, bytes: 0 }
    const conflicts: RecordId[] = []
    for (const batch of batchesOf(volume)) {
      const decided = await this.decide(batch)
      for (const { line, record } of batch) {
        if (record.record !== 'entry' && record.record !== 'gone') continue
        const id = String(record.id)
        const decision = decided.get(id)
        const gone = () => decideDeleted(this.mapping.known.get(id), this.at, options.onConflict) ?? ('none' as const)
        const fate = decision?.what ?? gone()
        fates.set(id, fate)
        if (fate === 'conflict') conflicts.push(record.id)
        if (decision?.what === 'refuse') noteProblem(report, line, record.id, decision.problem)
        if (decision?.what === 'store' || decision?.what === 'replace') {
          takes.entries += Number(decision.replaces === null)
          takes.bytes += decision.entry.bytes
          this.noteScreening(line)
        }
        countOutcome(report, fate)
      }
    }
    if (conflicts.length > 0) throw conflictOf(conflicts)
    return takes
  }

  private noteScreening(line: number): void {
    const screening = this.volume.screenings.get(line)
    if (screening !== undefined) noteSecretScan(this.report, line, screening, this.redacted.has(String(screening.id)))
  }

  /** Returns a record as it is imported: without secrets if REDACT=always. */
  private asImported<R extends EntryRecord | RecordOf<'version'>>(record: R): R {
    return this.redacted.has(String(record.id)) ? withoutSecrets(record) : record
  }

  private async decide(batch: readonly Lined[]): Promise<Map<string, Decision>> {
    const { mapping, intake, options } = this
    const records = batch.flatMap(({ record }) => (record.record === 'entry' ? [this.inProject(record)] : []))
    const standing = await this.standing(records)
    const decided = new Map<string, Decision>()
    for (const original of records) {
      const record = this.asImported(original)
      const id = String(record.id)
      const known = mapping.known.get(id)
      const there = known === undefined ? null : (standing.get(known.entryId) ?? null)
      const images = (record.images ?? []).filter(({ sha256 }) => !this.images.missing.has(sha256))
      const here = { ...record, ...mapping.mapped(record), images }
      decided.set(
        id,
        options.once && known !== undefined && known.version !== 0
          ? { what: known.existing === null ? 'skip' : 'unchanged' }
          : decideEntry(here, known, there, { intake, onConflict: options.onConflict, edits: options.edits === true }),
      )
      await scheduler.tick(record.text.length)
    }
    return decided
  }

  /** Reads the stored entries of these records. */
  private standing(records: readonly EntryRecord[]): Promise<Map<number, EntryRecord>> {
    return existingEntriesOf(this.on.exports, this.intake.scope, this.mapping, records)
  }

  /** Reserves IDs for new entries, and for deleted ones with past versions. */
  private async reserve(): Promise<void> {
    const { volume, options, mapping } = this
    const fate = (id: string) => (volume.states.has(id) ? 'store' : this.fates.get(id))
    const rows = volume.ids
      .filter((id) => !mapping.ours.has(id) && fate(id) === 'store')
      .map((theirId) => ({ theirId, wanted: options.keepsIds ? preservableId(theirId) : null }))
    for (const [id, ours] of await this.on.imports.reserve(this.caller, this.store, rows)) mapping.ours.set(id, ours)
  }

  /**
   * Resolves the projects of the volume.
   *
   * A trusted volume keeps its projects if no project here has their names, so that separate projects stay separate.
   */
  private async findProjects(): Promise<void> {
    const { on, caller, volume, options } = this
    const names = new Set<string>()
    for (const batch of batchesOf(volume))
      for (const { record } of batch) {
        const name = record.record === 'entry' || record.record === 'version' ? projectIn(record) : null
        if (name !== null) names.add(name)
      }
    const found = [...(await on.names.each(caller, names))].filter(
      ([, { attachments }]) => !options.keepsIds || attachments.every(({ isNew }) => isNew),
    )
    this.keys = new Map(found.map(([name, { key }]) => [name, key]))
    this.given = found.flatMap(([, { attachments }]) => attachments)
  }

  private inProject<R extends EntryRecord | RecordOf<'version'>>(record: R): R {
    const name = projectIn(record)
    const key = name === null ? undefined : this.keys.get(name)
    if (key === undefined || key === name) return record
    const metadata = { ...record.metadata, project: key }
    return { ...record, metadata, ...(record.project === undefined ? {} : { project: key }) }
  }

  private async takeProjects(): Promise<void> {
    const { caller, at, volume } = this
    const projects: { id: string; name: string; createdAt: number }[] = []
    for (const batch of batchesOf(volume))
      for (const { record } of batch)
        if (record.record === 'project' && (caller.projects === null || caller.projects.includes(record.id))) {
          const { id, name = id, created_at: created } = record
          projects.push({ id, name, createdAt: created === undefined ? at : Date.parse(created) })
        }
    await this.on.imports.projects(caller, projects)
  }

  private async take(batch: readonly Lined[]): Promise<void> {
    await withRetries(async (attempt) => {
      if (attempt > 1) {
        this.isContested = true
        const { ours } = this.mapping
        await this.recall()
        for (const [id, here] of ours) if (!this.mapping.ours.has(id)) this.mapping.ours.set(id, here)
      }
      await this.takeOnce(batch)
    })
    await this.compare(batch)
  }

  private async takeOnce(batch: readonly Lined[]): Promise<void> {
    const { report, store, at, caller, on, mapping } = this
    const decided = await this.decide(batch)
    if (this.isContested) this.decideAgain(batch, decided)
    const vectors = Map.groupBy(
      batch.flatMap(({ record }) =>
        record.record === 'vector' && !this.redacted.has(String(record.entry)) ? [record] : [],
      ),
      ({ entry }) => String(entry),
    )
    const entries: ImportedEntry[] = []
    for (const { record } of batch) {
      if (record.record !== 'entry') continue
      const theirId = String(record.id)
      const [decision, id] = [decided.get(theirId), mapping.ours.get(theirId)]
      if (id === undefined || (decision?.what !== 'store' && decision?.what !== 'replace')) continue
      entries.push({
        ...{ theirId, id, replaces: decision.replaces, version: decision.version },
        entry: withoutImages(decision.entry, this.images.missing),
        links: decision.links,
        waiting: mapping.waitingOf(record),
        vectors: vectorsOf(on, vectors.get(theirId) ?? []),
        queueVectors: false,
      })
    }
    const ready = await withVectors(on, entries)
    const deleted = this.deletedIn(batch)
    const versions = this.versionsOf(batch)
    const taken = new Set(ready.map(({ theirId }) => theirId))
    const later = await laterVectors(on, caller, vectors, { known: mapping.known, taken, at })
    // An entry that was deleted, restored and deleted again has several such records; the last one counts.
    const gone = new Map<string, { theirId: string; id: number; version: number }>()
    for (const { theirId, id, state } of versions)
      if (state.ended.deleted && !taken.has(theirId) && !mapping.known.get(theirId)?.existing)
        gone.set(theirId, { theirId, id, version: Math.max(state.ended.version, gone.get(theirId)?.version ?? 0) })
    if (ready.length + deleted.length + versions.length + later.length === 0) return
    const added = ready.filter(({ replaces }) => replaces === null).length
    const written = await on.imports.write(caller, {
      ...{ store, at, entries: ready, deleted, versions, vectors: later, deletedEntries: [...gone.values()] },
      knownRemovals: this.knownRemovals,
      detail: { stored: added, replaced: ready.length - added, deleted: deleted.length },
    })
    report.versions += written.versions
    report.vectors += later.reduce((sum, one) => sum + one.vectors.length, 0)
    for (const { theirId, id, version, links, replaces } of ready) {
      report.vectors += vectorsOf(on, vectors.get(theirId) ?? [])?.length ?? 0
      report.links += links.filter(({ to }) => mapping.theirOf(to) !== undefined).length
      const standing = { version, updatedAt: at, isPendingDeletion: false }
      mapping.known.set(theirId, { entryId: id, version, at, last: replaces ?? 0, existing: standing })
    }
  }

  /** Corrects the counts of a batch after the plan, because the same volume may be sent several times concurrently. */
  private decideAgain(batch: readonly Lined[], decided: ReadonlyMap<string, Decision>): void {
    const { fates, report } = this
    for (const { line, record } of batch) {
      if (record.record !== 'entry') continue
      const id = String(record.id)
      const [before, decision] = [fates.get(id), decided.get(id)]
      if (before === undefined || decision === undefined || before === decision.what) continue
      // With on_conflict=fail a part of the volume is stored by now.
      const fate = decision.what === 'conflict' ? 'skip' : decision.what
      countOutcome(report, before, -1)
      countOutcome(report, fate)
      fates.set(id, fate)
      if (decision.what === 'refuse') noteProblem(report, line, record.id, decision.problem)
    }
  }

  private deletedIn(batch: readonly Lined[]) {
    return batch.flatMap(({ record }) => {
      if (record.record !== 'gone' || this.fates.get(String(record.id)) !== 'delete') return []
      const known = this.mapping.known.get(String(record.id))
      return known?.existing ? [{ theirId: String(record.id), id: known.entryId, version: known.existing.version }] : []
    })
  }

  /** Returns past versions of entries that were not changed here. */
  private versionsOf(batch: readonly Lined[]): (ImportedVersion & { readonly theirId: string })[] {
    const { on, intake, report, mapping, fates } = this
    const oldest = historyCutoff(on.terms, intake.now)
    const taken: (ImportedVersion & { readonly theirId: string })[] = []
    for (const { line, record } of batch) {
      if (record.record !== 'version' || on.terms.days === 0 || Date.parse(record.ended.at) <= oldest) continue
      const theirId = String(record.id)
      const [id, fate, known] = [mapping.ours.get(theirId), fates.get(theirId), mapping.known.get(theirId)]
      if (id === undefined || fate === 'refuse' || fate === 'skip' || known?.existing?.isReadOnly) continue
      if (fate === undefined && known !== undefined && !isUntouched(known, this.at)) continue
      try {
        const here = this.asImported(this.inProject(record))
        const { metadata, links } = mapping.mapped(here)
        const state = incomingVersion(here, metadata ?? null, links, intake)
        taken.push({ theirId, id, state: { ...state, ...withoutImages(state, this.images.missing) } })
      } catch (error) {
        noteProblem(report, line, record.id, asProblem(error))
      }
    }
    return taken
  }

  /** Adds up the differences between stored entries and the file. */
  private async compare(batch: readonly Lined[]): Promise<void> {
    const { mapping, volume } = this
    const records = batch.flatMap(({ record }) => (record.record === 'entry' ? [record] : []))
    const standing = await this.standing(records)
    const inside = {
      stable: (id: string) => {
        const their = mapping.theirOf(Number(id))
        return their === undefined ? null : (volume.stable.get(their) ?? `#${their}`)
      },
      isMissing: (hash: string) => volume.missing.has(hash),
    }
    for (const record of records) {
      const id = mapping.ours.get(String(record.id))
      const there = id === undefined ? undefined : standing.get(id)
      this.difference.note({ ...record, ...mapping.mapped(record) }, there ?? null, inside)
      await scheduler.tick(record.text.length / VOLUME_UNITS)
    }
  }

  private async settle(): Promise<void> {
    for (let more = true; more; ) {
      const settled = await this.on.imports.resolveLinks(this.caller, this.store, this.volume.ids)
      this.report.links += settled.links
      more = settled.more
      await scheduler.yield()
    }
  }
}
