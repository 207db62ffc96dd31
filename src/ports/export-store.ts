import type { Scope } from '../domain/identity/scope'
import type { EntryRecord, RecordOf } from '../domain/transfer/records'

/** Selects the entries of an export, as far as the scope may read them by id. */
export interface ExportSelection {
  /** The newest change of the organization at the start of the export: later entries are not included. */
  readonly until: number
  /** Only changes after this one; null for everything. */
  readonly after: number | null
  readonly project: string | null
  /** Only entries of this owner, shared ones included; absent for those of everyone. */
  readonly owner?: string
  readonly history: boolean
  readonly vectors: boolean
}

/** A part of an export about one id, and its approximate size in bytes. */
export interface ToExport {
  readonly id: number
  /** `gone`: entries that the scope can no longer read. */
  readonly what: 'entry' | 'deleted' | 'gone'
  readonly bytes: number
}

export type VersionRecord = RecordOf<'version'>
export type VectorRecord = RecordOf<'vector'>

/** All records of one id except its images. */
export interface Exported {
  readonly id: number
  /** Null for a deleted one, or one that left the selection meanwhile. */
  readonly entry: EntryRecord | null
  readonly versions: readonly VersionRecord[]
  readonly vectors: readonly VectorRecord[]
}

/** References to entries that others name. */
export interface Named {
  /** Stable names of the entries of the export, by id. */
  readonly inside: ReadonlyMap<number, string>
  /** Ids that a link may point to: also deleted ones whose states are exported. */
  readonly linkable: ReadonlySet<number>
}

/** Reads an org for exports, a bounded part at a time. */
export interface ExportStore {
  /** Returns the random name of the organization's store, created on first use, and the number of its newest change. */
  begin(scope: Scope): Promise<{ readonly store: string; readonly newest: number; readonly forgotten: number }>
  /** Returns the projects that an administrator named. */
  projects(scope: Scope, project: string | null): Promise<readonly RecordOf<'project'>[]>
  /** Lists exported ids after one, in order; at most `limit`. Not for exports with `after`. */
  list(scope: Scope, selection: ExportSelection, beyond: number, limit: number): Promise<readonly ToExport[]>
  /** Returns ids of entries that have changed between two changes, at most `limit` changes; `last` is the last of these changes. */
  changed(
    scope: Scope,
    after: number,
    until: number,
    limit: number,
  ): Promise<{ readonly ids: readonly number[]; readonly last: number | null }>
  /** Like `list`, for these ids, in exports with `after`. */
  listChanged(scope: Scope, selection: ExportSelection, ids: readonly number[]): Promise<readonly ToExport[]>
  /**
   * Returns the records of these ids, in their order.
   *
   * @param versions reads only those after `beyond`, in order, up to `maxBytes`; the first always
   */
  read(
    scope: Scope,
    selection: ExportSelection,
    ids: readonly number[],
    versions: { readonly beyond: number; readonly maxBytes: number },
  ): Promise<{ readonly exported: readonly Exported[]; readonly moreVersions: boolean }>
  named(scope: Scope, selection: ExportSelection, ids: readonly number[]): Promise<Named>
  /** Returns the first id of the export that uses each image. */
  firstUses(scope: Scope, selection: ExportSelection, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>
}
