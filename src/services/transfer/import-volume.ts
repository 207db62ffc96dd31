import type { WriteLimits } from '../../domain/entry/draft'
import type { TextVector } from '../../domain/entry/entry'
import { detectImageType } from '../../domain/entry/image'
import { type JsonObject, own } from '../../domain/entry/metadata'
import { limitExceeded, Problem } from '../../domain/errors'
import { type HistoryTerms, oldestKept } from '../../domain/history/version'
import { normalizeProject } from '../../domain/identity/project'
import type { Attachment } from '../../domain/identity/project-attachment'
import type { Caller, Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { contentDifference, withIds } from '../../domain/transfer/content'
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
import { type Decision, decideDeleted, decideEntry, isUntouched, keepable, type OnConflict } from './decide'
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
import { noteScreening, withoutSecrets } from './screened-records'
import { batchesOf, type Lined, namedIn, type Picture, readVolume, type VolumeInHand } from './volume-in-hand'

export interface ImageDependencies {
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly images: ImageStore
  /** The bytes of an image that a backup has kept. */
  readonly spare: (org: string, hash: string) => Promise<Uint8Array | null>
  readonly entries: Pick<EntryStore, 'imageRemovals'>
  readonly limits: WriteLimits
}

export interface IncomingImages {
  /** Those that have no bytes, neither in the volume nor here: they are left off their entries. */
  readonly missing: ReadonlySet<string>
  /** Puts the bytes that are not here. @returns the removals that these are not touched by */
  put(): Promise<readonly number[]>
}

function refusalOf({ images, limits }: ImageDependencies, bytes: Uint8Array): Problem | null {
  if (images.refusal !== null) return new Problem('unsupported', images.refusal)
  if (detectImageType(bytes) === null)
    return new Problem('invalid_input', 'The image is not a PNG, JPEG, GIF or WebP image; it is left off')
  if (bytes.length > limits.each) return limitExceeded(`The image is larger than ${limits.each} bytes; it is left off`)
  return null
}

/** Finds out which images of a volume come, which are here and which are nowhere; writes nothing. */
export async function classifyImages(
  on: ImageDependencies,
  caller: Caller,
  volume: VolumeInHand,
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
    // An earlier volume of the same file may have brought it, or a backup, which is the whole org's, has kept it beside its volumes. What
    // stands in nothing but others' entries is for the importer as if it were nowhere.
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
  /** Makes vectors where that needs no service; null where they are made behind. */
  readonly generate: Generate | null
  /** The model whose vectors are imported; `every` imports all vectors as they are, null (semantic search is off) none. */
  readonly model: { readonly key: string; readonly dimensions: number } | 'every' | null
}

type VectorRecord = RecordOf<'vector'>

/** Whether a packed vector is of so many numbers: `scale:base64`, a byte a number. */
function isVectorOf(data: string, dimensions: number): boolean {
  const base64 = data.slice(data.indexOf(':') + 1).replaceAll('=', '')
  return Math.floor((base64.length * 3) / 4) === dimensions
}

/** The vectors of the server's model, or of every model; null where there is none. */
export function vectorsOf({ model }: VectorDependencies, records: readonly VectorRecord[]): TextVector[] | null {
  if (model === null) return null
  const ofModel =
    model === 'every'
      ? records
      : records.filter((one) => one.model === model.key && isVectorOf(one.data, model.dimensions))
  if (ofModel.length === 0) return null
  return ofModel.map(({ model: key, chunk, start, length, data }) => ({ model: key, chunk, start, length, data }))
}

/** Vectors of entries whose file brings none: made here where that needs no service, else queued. */
export async function withVectors(
  { generate, model }: VectorDependencies,
  entries: readonly ImportedEntry[],
): Promise<ImportedEntry[]> {
  if (model === null || model === 'every') return [...entries]
  const bare = entries.filter(({ vectors }) => vectors === null)
  if (generate === null || bare.length === 0)
    return entries.map((one) => (one.vectors === null ? { ...one, queueVectors: true } : one))
  const texts = bare.map(({ entry }) => ({
    title: typeof entry.columns.title === 'string' ? entry.columns.title : null,
    text: entry.text,
    source: entry.columns.source === 'user' ? ('user' as const) : ('agent' as const),
  }))
  const made = await generate(texts, 'defer')
  const byId = new Map(bare.map(({ id }, i) => [id, made[i]?.vectors ?? null]))
  return entries.map((one) => {
    if (one.vectors !== null) return one
    const vectors = byId.get(one.id) ?? null
    return { ...one, vectors, queueVectors: vectors === null }
  })
}

/** Vectors of entries that came in an earlier volume or batch, and have none. */
export async function laterVectors(
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
  // A volume may end between two vectors of one entry; those that are stored stay.
  if (on.model === 'every') return wanted
  const ids = wanted.map(({ id }) => id)
  const bare = await on.imports.withoutVectors(caller, on.model.key, ids)
  return wanted.filter(({ id }) => bare.has(id))
}

/** Characters of ids that are remembered. */
export const MAX_ID = 256

/** Which entry of a file is which entry here. */
export class Mapping {
  /** Theirs → ours, of all that is here or gets an id. */
  readonly ours = new Map<string, number>()
  private theirs: Map<number, string> | null = null
  /** Links of entries here to deleted entries or ones that the caller cannot read; an exported file does not have them. */
  private readonly hidden = new Map<number, readonly IncomingLink[]>()

  /** @param known what is remembered, by their ids */
  constructor(readonly known: Map<string, Remembered>) {
    for (const [id, { entryId }] of known) this.ours.set(id, entryId)
  }

  /**
   * Metadata and links with ids here: what has none is named in metadata as it was, and links to nothing. Links to what the caller may not
   * read, and to deleted entries, stay, but where the metadata that made them no longer names it.
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
    // What a kept state linked to is what its own record tells.
    const hidden = record === 'entry' ? (this.hidden.get(this.ours.get(String(theirs)) ?? 0) ?? []) : []
    const isTold = (link: IncomingLink) =>
      known.some(({ relation, to, origin }) => relation === link.relation && to === link.to && origin === link.origin)
    const stay = hidden.filter((link) => (link.origin !== 'metadata' || named.has(String(link.to))) && !isTold(link))
    return { metadata: mapped, links: [...known, ...stay] }
  }

  /**
   * Learns which links of entries here lead to what the caller may not read, or to what is deleted.
   *
   * @param read of these ids, which he may
   */
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

  /** What an entry says of ones that have not come. */
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

  /** Of these ids those that are others here: theirs, ours. */
  differing(ids: readonly string[]): [RecordId, number][] {
    return ids.flatMap((id): [RecordId, number][] => {
      const ours = this.ours.get(id)
      return ours === undefined || String(ours) === id ? [] : [[keepable(id) ?? id, ours]]
    })
  }

  /** Their id of an entry here. */
  theirOf(id: number): string | undefined {
    if (this.theirs?.size !== this.ours.size)
      this.theirs = new Map([...this.ours].map(([their, ours]) => [ours, their]))
    return this.theirs.get(id)
  }
}

export type ExistingEntries = Pick<ExportStore, 'read' | 'named'>

const EVERYTHING = { until: Number.MAX_SAFE_INTEGER, after: null, project: null, history: false, vectors: false }

/** What stands here of entries that come in, by its id; the mapping learns which of its links the caller may not follow. */
export async function existingEntriesOf(
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
  /** Whether entries are edits of the versions that they name. */
  readonly edits?: boolean
  /** Whether the file is trusted: its free IDs and the names of its makers are imported as they are. */
  readonly keepsIds: boolean
}

interface ImportDependencies extends ImageDependencies, VectorDependencies {
  readonly imports: ImportStore
  readonly exports: ExistingEntries
  readonly limits: WriteLimits
  readonly terms: HistoryTerms
  readonly clock: Clock
  /** `warn` reports texts that look like they hold secrets; `always` imports them without the secrets. */
  readonly redact?: 'warn' | 'always'
  readonly names: Pick<ResolveNames, 'each' | 'give'>
}

export type ImportVolume = ReturnType<typeof createImportVolume>

/** Takes one volume in (docs/contracts/operate.md §2). */
export function createImportVolume(dependencies: ImportDependencies) {
  return async (caller: Caller, chunks: AsyncIterable<Uint8Array>, options: ImportOptions): Promise<ImportReport> => {
    const volume = await readVolume(chunks)
    return new Import(dependencies, caller, options, volume).run()
  }
}

/** The name of the project in the metadata of an entry or a state; null where they name none. */
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
  private readonly difference = contentDifference()
  /** IDs of records from which secrets are removed. */
  private readonly redacted: ReadonlySet<string>
  /** The key of each project that the volume names otherwise. */
  private keys: ReadonlyMap<string, string> = new Map()
  private given: readonly Attachment[] = []

  constructor(
    private readonly on: ImportDependencies,
    private readonly caller: Caller,
    private readonly options: ImportOptions,
    private readonly volume: VolumeInHand,
  ) {
    const { manifest } = volume
    this.report = emptyReport(manifest.volume, options.dryRun)
    this.store = manifest.store
    this.at = Date.parse(manifest.at)
    const withSecrets = [...volume.screenings.values()].filter(({ kinds }) => kinds.length > 0)
    this.redacted = new Set(on.redact === 'always' ? withSecrets.map(({ id }) => String(id)) : [])
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
    // Deleted entries too: those that the file says are gone, and those of which it has states alone.
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

  /** Plans, and again where another request has stored some of the volume in the meantime. @throws Problem conflict, limit_exceeded */
  private async plan(): Promise<void> {
    const { entries, problems } = this.report
    const [counts, noted] = [{ ...entries }, problems.length]
    for (let before = Number.NaN; ; ) {
      const takes = await this.planOnce()
      try {
        return checkQuota(await this.on.imports.remainingQuota(this.caller), takes)
      } catch (error) {
        // The quota counts what this plan did not find yet.
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

  /** Decides about each entry, before anything is written. @returns what it takes @throws Problem conflict */
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
    if (screening !== undefined) noteScreening(this.report, line, screening, this.redacted.has(String(screening.id)))
  }

  /** A record as it is imported: with REDACT=always without secrets. */
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
        decideEntry(here, known, there, { intake, onConflict: options.onConflict, edits: options.edits === true }),
      )
      await scheduler.tick(record.text.length)
    }
    return decided
  }

  /** What stands here of these entries. */
  private standing(records: readonly EntryRecord[]): Promise<Map<number, EntryRecord>> {
    return existingEntriesOf(this.on.exports, this.intake.scope, this.mapping, records)
  }

  /** Ids for what comes: entries, and deleted ones of which states come. */
  private async reserve(): Promise<void> {
    const { volume, options, mapping } = this
    const fate = (id: string) => (volume.states.has(id) ? 'store' : this.fates.get(id))
    const rows = volume.ids
      .filter((id) => !mapping.ours.has(id) && fate(id) === 'store')
      .map((theirId) => ({ theirId, wanted: options.keepsIds ? keepable(theirId) : null }))
    for (const [id, ours] of await this.on.imports.reserve(this.caller, this.store, rows)) mapping.ours.set(id, ours)
  }

  /**
   * Resolves the projects of the volume. A trusted volume keeps its projects as they are, where no project here has their
   * names, so that what was apart there stays apart.
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
    // What was deleted, brought back and deleted again has several such states: the last one counts.
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

  /** Counts the results of a batch again after the plan: the same volume may be sent several times at once. */
  private decideAgain(batch: readonly Lined[], decided: ReadonlyMap<string, Decision>): void {
    const { fates, report } = this
    for (const { line, record } of batch) {
      if (record.record !== 'entry') continue
      const id = String(record.id)
      const [before, decision] = [fates.get(id), decided.get(id)]
      if (before === undefined || decision === undefined || before === decision.what) continue
      // Of on_conflict=fail some of the volume is in by now.
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

  /** Kept states of entries that nobody has touched here. */
  private versionsOf(batch: readonly Lined[]): (ImportedVersion & { readonly theirId: string })[] {
    const { on, intake, report, mapping, fates } = this
    const oldest = oldestKept(on.terms, intake.now)
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

  /** Adds up how what stands here differs from what the file says. */
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
