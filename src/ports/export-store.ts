import type { Scope } from '../domain/identity/scope'
import type { EntryRecord, RecordOf } from '../domain/transfer/records'

/** What an export holds of an org, as far as the scope may read it by id. */
export interface ExportSelection {
  /** The newest change of the org when the export began: what was stored later is out. */
  readonly until: number
  /** Only what changed behind this change; null for everything. */
  readonly after: number | null
  readonly project: string | null
  readonly history: boolean
  readonly vectors: boolean
}

/** Something that an export tells of one id, and about how many bytes that takes. */
export interface ToExport {
  readonly id: number
  /** `gone`: what was the scope's to read and is not any more. */
  readonly what: 'entry' | 'deleted' | 'gone'
  readonly bytes: number
}

export type VersionRecord = RecordOf<'version'>
export type VectorRecord = RecordOf<'vector'>

/** All records of one id but its images. */
export interface Exported {
  readonly id: number
  /** Null for a deleted one, and where it left meanwhile. */
  readonly entry: EntryRecord | null
  readonly versions: readonly VersionRecord[]
  readonly vectors: readonly VectorRecord[]
}

/** What is known of entries that others name. */
export interface Named {
  /** Those of the export, by id: their stable names. */
  readonly inside: ReadonlyMap<number, string>
  /** Those that a link may lead to: also deleted ones whose states are exported. */
  readonly linkable: ReadonlySet<number>
}

/** Reads an org for exports, a bounded part at a time. */
export interface ExportStore {
  /** The random name of the org's store, which is made when it is first asked for, and the number of its newest change. */
  begin(scope: Scope): Promise<{ readonly store: string; readonly newest: number; readonly forgotten: number }>
  /** Projects that an administrator named. */
  projects(scope: Scope, project: string | null): Promise<readonly RecordOf<'project'>[]>
  /** What is exported of ids beyond one, in their order; at most `limit`. Not for exports with `after`. */
  list(scope: Scope, selection: ExportSelection, beyond: number, limit: number): Promise<readonly ToExport[]>
  /** Ids of entries that have changed between two changes, at most `limit` changes; `last` is the change they end with. */
  changed(
    scope: Scope,
    after: number,
    until: number,
    limit: number,
  ): Promise<{ readonly ids: readonly number[]; readonly last: number | null }>
  /** As `list`, of these ids, in exports with `after`. */
  listChanged(scope: Scope, selection: ExportSelection, ids: readonly number[]): Promise<readonly ToExport[]>
  /**
   * The records of these ids, in their order.
   *
   * @param versions of which only those beyond `beyond` are read, in order, as long as they hold no more than `maxBytes`; the first always
   */
  read(
    scope: Scope,
    selection: ExportSelection,
    ids: readonly number[],
    versions: { readonly beyond: number; readonly maxBytes: number },
  ): Promise<{ readonly exported: readonly Exported[]; readonly moreVersions: boolean }>
  named(scope: Scope, selection: ExportSelection, ids: readonly number[]): Promise<Named>
  /** The first id of the export that uses each image. */
  firstUses(scope: Scope, selection: ExportSelection, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>
}
