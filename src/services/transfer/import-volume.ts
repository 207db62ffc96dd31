import type { WriteLimits } from '../../domain/entry/draft'
import { own } from '../../domain/entry/metadata'
import { type HistoryTerms, oldestKept } from '../../domain/history/terms'
import { normalizeProject } from '../../domain/identity/project'
import type { Attachment } from '../../domain/identity/project-attachment'
import type { Caller } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { contentDifference } from '../../domain/transfer/content-difference'
import { withoutImages } from '../../domain/transfer/incoming'
import type { Intake } from '../../domain/transfer/incoming-checks'
import { incomingVersion } from '../../domain/transfer/incoming-version'
import type { EntryRecord, RecordId, RecordOf } from '../../domain/transfer/records'
import type { Clock } from '../../ports/clock'
import type { ImportStore, TakenEntry, TakenVersion } from '../../ports/import-store'
import { withRetries } from '../outcome'
import type { ResolveNames } from '../people/project-names'
import { type Decision, decideEntry, decideGone, isUntouched, keepable, type OnConflict } from './decide'
import { type ImageDependencies, type IncomingImages, lookAtImages } from './incoming-images'
import { laterVectors, type VectorDependencies, vectorsOf, withVectors } from './incoming-vectors'
import { MAX_ID, Mapping } from './mapping'
import {
  asProblem,
  checkQuota,
  conflictOf,
  countFate,
  emptyReport,
  type Fate,
  type ImportReport,
  noteProblem,
} from './report'
import { noteScreening, withoutSecrets } from './screened-records'
import { type Standing, standingOf } from './standing'
import { batchesOf, type Lined, readVolume, type VolumeInHand } from './volume-in-hand'

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
  readonly exports: Standing
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
  private readonly intake: Intake
  private readonly store: string
  private readonly at: number
  private mapping = new Mapping(new Map())
  private readonly fates = new Map<string, Fate>()
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
    this.images = await lookAtImages(on, caller, volume, report)
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
        const gone = () => decideGone(this.mapping.known.get(id), this.at, options.onConflict) ?? ('none' as const)
        const fate = decision?.what ?? gone()
        fates.set(id, fate)
        if (fate === 'conflict') conflicts.push(record.id)
        if (decision?.what === 'refuse') noteProblem(report, line, record.id, decision.problem)
        if (decision?.what === 'store' || decision?.what === 'replace') {
          takes.entries += Number(decision.replaces === null)
          takes.bytes += decision.entry.bytes
          this.noteScreening(line)
        }
        countFate(report, fate)
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
    return standingOf(this.on.exports, this.intake.scope, this.mapping, records)
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
    const entries: TakenEntry[] = []
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
      if (state.ended.deleted && !taken.has(theirId) && !mapping.known.get(theirId)?.standing)
        gone.set(theirId, { theirId, id, version: Math.max(state.ended.version, gone.get(theirId)?.version ?? 0) })
    if (ready.length + deleted.length + versions.length + later.length === 0) return
    const added = ready.filter(({ replaces }) => replaces === null).length
    const written = await on.imports.write(caller, {
      ...{ store, at, entries: ready, deleted, versions, vectors: later, gone: [...gone.values()] },
      knownRemovals: this.knownRemovals,
      detail: { stored: added, replaced: ready.length - added, deleted: deleted.length },
    })
    report.versions += written.versions
    report.vectors += later.reduce((sum, one) => sum + one.vectors.length, 0)
    for (const { theirId, id, version, links, replaces } of ready) {
      report.vectors += vectorsOf(on, vectors.get(theirId) ?? [])?.length ?? 0
      report.links += links.filter(({ to }) => mapping.theirOf(to) !== undefined).length
      const standing = { version, updatedAt: at, isPendingDeletion: false }
      mapping.known.set(theirId, { entryId: id, version, at, last: replaces ?? 0, standing })
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
      countFate(report, before, -1)
      countFate(report, fate)
      fates.set(id, fate)
      if (decision.what === 'refuse') noteProblem(report, line, record.id, decision.problem)
    }
  }

  private deletedIn(batch: readonly Lined[]) {
    return batch.flatMap(({ record }) => {
      if (record.record !== 'gone' || this.fates.get(String(record.id)) !== 'delete') return []
      const known = this.mapping.known.get(String(record.id))
      return known?.standing ? [{ theirId: String(record.id), id: known.entryId, version: known.standing.version }] : []
    })
  }

  /** Kept states of entries that nobody has touched here. */
  private versionsOf(batch: readonly Lined[]): (TakenVersion & { readonly theirId: string })[] {
    const { on, intake, report, mapping, fates } = this
    const oldest = oldestKept(on.terms, intake.now)
    const taken: (TakenVersion & { readonly theirId: string })[] = []
    for (const { line, record } of batch) {
      if (record.record !== 'version' || on.terms.days === 0 || Date.parse(record.ended.at) <= oldest) continue
      const theirId = String(record.id)
      const [id, fate, known] = [mapping.ours.get(theirId), fates.get(theirId), mapping.known.get(theirId)]
      if (id === undefined || fate === 'refuse' || fate === 'skip' || known?.standing?.isReadOnly) continue
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
      const settled = await this.on.imports.settle(this.caller, this.store, this.volume.ids)
      this.report.links += settled.links
      more = settled.more
      await scheduler.yield()
    }
  }
}
