import { limitExceeded, type Problem } from './errors'

/**
 * How much one org may hold (platform contract §6); null: as much as it likes. Entries count until their rows are gone,
 * archived ones and diary pages too; bytes are those of text and metadata as UTF-8, of images, each once an org, and of code files.
 */
export interface Quotas {
  readonly entries: number | null
  readonly bytes: number | null
}

export const NO_QUOTAS: Quotas = { entries: null, bytes: null }

/** Names of the limits, as configuration and callers know them. */
export const QUOTA_NAMES = { entries: 'MAX_ENTRIES_PER_ORG', bytes: 'MAX_BYTES_PER_ORG' } as const

/** What a caller hears whose write would pass a limit; null for a name that is none. */
export function quotaProblem(name: string | null, quotas: Quotas): Problem | null {
  const what =
    name === QUOTA_NAMES.entries
      ? `${quotas.entries} entries`
      : name === QUOTA_NAMES.bytes
        ? `${quotas.bytes} bytes of text, metadata, images and code`
        : null
  if (what === null) return null
  return limitExceeded(
    `This organization may hold at most ${what} (${name}); nothing was changed, delete what is no longer needed or ask ` +
      'whoever runs the server for more room',
  )
}
