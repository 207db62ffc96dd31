import type { Attachment, NameKind, PendingNames } from '../domain/identity/project-attachment'
import type { KnownNames } from '../domain/identity/project-resolution'
import type { Actor, Principal, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** A name of a project. */
export interface ProjectAlias {
  readonly name: string
  readonly kind: NameKind
  readonly owner: string
  /** The key under which entries with this name are stored. */
  readonly home: string
}

/** A project in a list. */
export interface ListedProject {
  readonly key: string
  /** The display name. */
  readonly name: string
  readonly aliases: readonly ProjectAlias[]
  /** The keys under which its entries are stored: several after a merge. */
  readonly homes: readonly string[]
  /** Number of listed entries that the scope can see. */
  readonly entries: number
  /** When the newest of them was stored; null if there is none. */
  readonly lastUse: Millis | null
  /** When an administrator created it; null for a project that exists through its entries. */
  readonly createdAt: Millis | null
}

export const PROJECT_CHANGES = ['seed', 'create', 'attach', 'rename', 'merge', 'split', 'undo'] as const
export type ProjectChangeKind = (typeof PROJECT_CHANGES)[number]

/** A change of the directory, with all that is needed to undo it. */
export interface ProjectChangeDetail {
  readonly project: string
  /** The name that was added or removed. */
  readonly name?: string
  /** Of a merge: the projects whose names now mean `project`. Of a split: the project that they meant before. */
  readonly from?: string
  /** Keys that a merge or a split moved. */
  readonly homes?: readonly string[]
  /** Display names of a rename. */
  readonly was?: string
  readonly is?: string
  /** The change that was undone. */
  readonly change?: number
}

export interface ProjectChange {
  readonly seq: number
  readonly at: Millis
  readonly keyId: string
  readonly action: ProjectChangeKind
  readonly detail: ProjectChangeDetail
  /** The change that undid it; null if it is in effect. */
  readonly undoneBy: number | null
}

/**
 * Names of projects, and which project each means. A narrowed scope gets only the names of its own projects, and no row of others is read.
 */
export interface ProjectDirectory {
  /**
   * Reads the rows of these names and, for short ones, of projects that end in them. An organization whose projects have no names yet gets
   * them first, one for each project.
   */
  known(scope: Scope, names: readonly string[]): Promise<KnownNames>

  /**
   * Adds names without an entry, for a project that a hook or a code index names.
   *
   * @throws NamesChanged when the directory has another version
   */
  attach(by: ProjectAdmin, names: PendingNames): Promise<void>

  /** Lists projects that the scope may access, by key; at most 1,000. @param seesAll includes those without a visible entry */
  list(scope: Scope, seesAll: boolean): Promise<ListedProject[]>

  /** Lists changes of the directory, newest first. */
  changes(org: string, before: number | null, limit: number): Promise<ProjectChange[]>

  /**
   * Makes a change, with its row of the audit log.
   *
   * @returns its number
   * @throws Problem conflict when the directory has another version, or the change was undone before
   */
  change(by: ProjectAdmin, version: number, change: DirectoryChange): Promise<number>
}

/** The writes of one change by an administrator. */
export interface DirectoryChange {
  readonly action: ProjectChangeKind
  readonly detail: ProjectChangeDetail
  /** Keys whose names now mean another project; null: their own project. */
  readonly merged?: readonly { readonly home: string; readonly into: string | null }[]
  /** Names that move from one key to another. */
  readonly moved?: readonly { readonly name: string; readonly from: string; readonly to: string }[]
  /** Names that a key gets. */
  readonly named?: readonly Attachment[]
  /** Names that a key loses. */
  readonly dropped?: readonly { readonly name: string; readonly home: string }[]
  /** A display name. */
  readonly title?: { readonly project: string; readonly name: string }
  /** The change that this one undoes. */
  readonly undoes?: number
}

/** The author of a change, for the audit log. */
export type ProjectAdmin = Pick<Principal, 'org' | 'keyId' | 'agent' | 'owner'> & Pick<Actor, 'action' | 'tool'>
