import { MOST_WAITING } from '../../../domain/capture/review'
import { hasRole, type Visit } from '../visit'
import { Icon, type IconName } from './icons'

/** Groups of the navigation: memory, review, administration. */

interface Place {
  readonly at: string
  readonly label: string
  readonly icon: IconName
  /** Items that wait there; 0 for none. */
  readonly waiting?: number
}

const MEMORY: readonly Place[] = [
  { at: '/', label: 'Overview', icon: 'overview' },
  { at: '/search', label: 'Search', icon: 'search' },
  { at: '/threads', label: 'Threads', icon: 'threads' },
  { at: '/pack', label: 'Pack', icon: 'pack' },
  { at: '/activity', label: 'Activity', icon: 'activity' },
  { at: '/usage', label: 'Usage', icon: 'usage' },
]

export const ADMINISTRATION: readonly Place[] = [
  { at: '/projects', label: 'Projects', icon: 'projects' },
  { at: '/keys', label: 'Keys', icon: 'keys' },
  { at: '/audit', label: 'Audit log', icon: 'audit' },
  { at: '/settings', label: 'Settings', icon: 'settings' },
]

export const Places = ({ places, at, label }: { places: readonly Place[]; at: string | undefined; label: string }) => (
  <ul aria-label={label}>
    {places.map((place) => (
      <li>
        <a href={place.at} aria-current={place.at === at ? 'page' : undefined}>
          <Icon name={place.icon} />
          {place.label}
          {(place.waiting ?? 0) === 0 ? null : (
            <span class="waiting">
              {place.waiting === MOST_WAITING ? `${MOST_WAITING}+` : place.waiting}
              <span class="hidden"> waiting</span>
            </span>
          )}
        </a>
      </li>
    ))}
  </ul>
)

/** Review is offered to keys that may write, if capture is on. */
const REVIEW: Place = { at: '/review', label: 'Review', icon: 'review' }

/** Pairs of memories to settle, for those who may change them. */
const STALE: Place = { at: '/stale', label: 'Outdated?', icon: 'stale' }

/** Whether the visitor reviews captured sessions. */
export const reviews = (visit: Visit): boolean => hasRole(visit, 'writer') && visit.config.captureDays > 0

/** @param waiting sessions that wait for the visitor's review */
export const placesOf = (visit: Visit, waiting: number): readonly Place[] => [
  ...MEMORY,
  ...(reviews(visit) ? [{ ...REVIEW, waiting }] : []),
  ...(hasRole(visit, 'writer') ? [STALE] : []),
]

/** Returns the first page of a visitor; the holder of ADMIN_TOKEN sees no memory, so the overview would be empty. */
export const homeOf = (isOperator: boolean): string => (isOperator ? '/projects' : '/')
