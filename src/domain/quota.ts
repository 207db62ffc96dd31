import { limitExceeded, type Problem } from './errors'

/**
 * How much one org may hold (platform contract §6); null: as much as it likes. Entries count until their rows are gone,
 * archived ones and diary pages too; bytes are those of all its parts.
 */
export interface Quotas {
  readonly entries: number | null
  readonly bytes: number | null
}

export const NO_QUOTAS: Quotas = { entries: null, bytes: null }

/** Names of the limits, as configuration and callers know them. */
export const QUOTA_NAMES = { entries: 'MAX_ENTRIES_PER_ORG', bytes: 'MAX_BYTES_PER_ORG' } as const

/** What an org holds, by the names under which it is counted (`org_usage`), each image once. */
const COUNTED_PARTS = {
  entries: 'text and metadata',
  images: 'images',
  versions: 'kept versions',
  receipts: 'receipts of calls',
  code: 'files of code',
  capture: 'captured sessions',
  audit: 'the audit log',
} as const

/** Bytes by part. */
export type StoredBytes = ReadonlyMap<string, number>

const names = Object.values(COUNTED_PARTS)
const ALL = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** What holds most, with its share of the limit. */
function holders(held: StoredBytes, limit: number): string {
  const parts = Object.entries(COUNTED_PARTS).map(([part, name]) => ({ name, bytes: held.get(part) ?? 0 }))
  const shown = parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)
  return shown.map(({ name, bytes }) => `${name} (${Math.round((bytes / Math.max(limit, 1)) * 100)} %)`).join(', ')
}

/**
 * What a caller hears whose write would pass a limit; null for a name that is none.
 *
 * @param held what the org holds, where the caller may know of all of it
 */
export function quotaProblem(name: string | null, quotas: Quotas, held: StoredBytes | null): Problem | null {
  const asks = 'or ask whoever runs the server for more room'
  if (name === QUOTA_NAMES.entries)
    return limitExceeded(
      `This organization may hold at most ${quotas.entries} entries (${name}); nothing was changed, ` +
        `delete what is no longer needed ${asks}`,
    )
  if (name !== QUOTA_NAMES.bytes) return null
  const shares = held === null || held.size === 0 ? '' : `. It holds ${holders(held, quotas.bytes ?? 0)}`
  return limitExceeded(
    `This organization may hold at most ${quotas.bytes} bytes of ${ALL} (${name}); nothing was changed${shares}. ` +
      'Delete entries or images that are no longer needed: what is kept of them goes first when room is needed, oldest first; with erase ' +
      'nothing of them is kept. Files of code go by their route; receipts, the audit log and what is gathered of captured sessions go ' +
      `with time, ${asks}`,
  )
}
