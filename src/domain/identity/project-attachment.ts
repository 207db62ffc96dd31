/** Names of projects: remotes, folders and short names, each with the form in which names are compared. */
export type NameKind = 'short' | 'remote' | 'folder' | 'other'

export interface ProjectName {
  readonly kind: NameKind
  /** The name as it is compared: without case, credentials, ports, `.git` and the spelling of a remote. */
  readonly normal: string
  /** The last segment of `normal`; empty where it has none. */
  readonly segment: string
  /** The key of a project that is named so first. Never a credential: a remote is its normal form. */
  readonly key: string
}

/** A name that a write gives to a project. */
export interface Attachment {
  readonly name: ProjectName
  readonly home: string
  /** Whether the project comes into being with it. */
  readonly isNew: boolean
  readonly isNarrow: boolean
  /** Whether the answer names it: not where the name is only another spelling, or came with one that did. */
  readonly isTold: boolean
}

/** The names that one call gives. They are part of its first batch, and of no further one. */
export class PendingNames {
  /** Whether a batch that gives them was committed. */
  isGiven = false

  /** @param version of the directory by which the call's names were resolved */
  constructor(
    readonly version: number,
    readonly attachments: readonly Attachment[],
  ) {}
}
