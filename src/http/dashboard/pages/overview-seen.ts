import { vectorsWarning } from '../../../domain/capacity'
import { DAY_MS } from '../../../domain/time'
import { principalOf, type Visit } from '../visit'

/** Reads the data of the overview. */
export const DAYS = 30
/** Number of newest entries that the charts count, which bounds the rows that the page reads. */
const COUNTED = 10_000
const NAMES = 8
const CHANGES = 5

export async function look(visit: Visit) {
  const { services } = visit
  const principal = principalOf(visit)
  const now = services.now()
  const since = now - (now % DAY_MS) - (DAYS - 1) * DAY_MS
  // Requested together, so that they share a round trip.
  const [totals, vectors, activity, latest, suggestion] = await Promise.all([
    services.entries.statistics(principal),
    services.vectorCounts?.(principal) ?? null,
    services.overview.activity(principal, { newest: COUNTED, since, names: NAMES }),
    services.changes.latest(principal, CHANGES),
    services.suggestModel(principal),
  ])
  const full = vectors && vectorsWarning(vectors.vectors, services.vectorCapacity)
  return { totals, vectors, activity, latest, suggestion, full, now }
}

export type Seen = Awaited<ReturnType<typeof look>>
