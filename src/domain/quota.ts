import { limitExceeded, type Problem } from './errors'

/**
 * Storage limits of one organization (platform contract §6); null: unlimited. Entries count until their rows are
 * deleted, including archived ones and diary pages; bytes include all parts.
 */
export interface Quotas {
  readonly entries: number | null
  readonly bytes: number | null
}

export const NO_QUOTAS: Quotas = { entries: null, bytes: null }

/** Names of the limits in configuration and errors. */
export const QUOTA_NAMES = { entries: 'MAX_ENTRIES_PER_ORG', bytes: 'MAX_BYTES_PER_ORG' } as const

/** Descriptions of the counted parts of an organization (`org_usage`); each image counts once. */
const COUNTED_PARTS = {
  entries: 'text and metadata',
  images: 'images',
  versions: 'retained versions',
  receipts: 'receipts of calls',
  code: 'files of code',
  capture: 'captured sessions',
  audit: 'the audit log',
} as const

/** Bytes by part. */
export type StoredBytes = ReadonlyMap<string, number>

const names = Object.values(COUNTED_PARTS)
const ALL = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** The parts that use most, with their percentage of the limit. */
function holders(held: StoredBytes, limit: number): string {
  const parts = Object.entries(COUNTED_PARTS).map(([part, name]) => ({ name, bytes: held.get(part) ?? 0 }))
  const shown = parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)
  return shown.map(({ name, bytes }) => `${name} (${Math.round((bytes / Math.max(limit, 1)) * 100)} %)`).join(', ')
}

/**
 * The error of a write that would exceed a limit; null for an unknown name.
 * @param held bytes by part, where the caller can know about the complete organization
 */
export function quotaProblem(name: string | null, quotas: Quotas, held: StoredBytes | null): Problem | null {
  const asks = 'or ask the operator of the server for a higher limit'
  if (name === QUOTA_NAMES.entries)
    return limitExceeded(
      `This organization may hold at most ${quotas.entries} entries (${name}); nothing was changed, ` +
        `delete what is no longer needed ${asks}`,
    )
  if (name !== QUOTA_NAMES.bytes) return null
  const shares = held === null || held.size === 0 ? '' : `. It holds ${holders(held, quotas.bytes ?? 0)}`
  return limitExceeded(
    `This organization may hold at most ${quotas.bytes} bytes of ${ALL} (${name}); nothing was changed${shares}. ` +
      'Delete entries or images that are no longer needed: their retained versions are deleted when space is needed, oldest first; with erase ' +
      'nothing is retained. Files of code are deleted with their route; receipts, the audit log and data of captured sessions expire ' +
      `over time, ${asks}`,
  )
}
