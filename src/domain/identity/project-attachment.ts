/** Names of projects: remotes, folders and short names, each with the form in which names are compared. */
export type NameKind = 'short' | 'remote' | 'folder' | 'other'

export interface ProjectName {
  readonly kind: NameKind
  /**
   * The form in which names are compared: without case, credentials, ports, `.git` and variants of a remote's spelling.
   */
  readonly normal: string
  /** The last segment of `normal`; empty if there is none. */
  readonly segment: string
  /** The key of a project created with this name. Never contains a credential: a remote is in its normal form. */
  readonly key: string
}

/** A name that a write adds to a project. */
export interface Attachment {
  readonly name: ProjectName
  readonly home: string
  /** Whether this creates the project. */
  readonly isNew: boolean
  readonly isNarrow: boolean
  /**
   * Whether the answer mentions the name: false for another spelling, or a name that came with one that is mentioned.
   */
  readonly isTold: boolean
}

/** The names that one call adds. They are part of its first batch only. */
export class PendingNames {
  /** Whether the batch that adds them was committed. */
  isGiven = false

  /** @param version version of the directory that the names were resolved with */
  constructor(
    readonly version: number,
    readonly attachments: readonly Attachment[],
  ) {}
}
