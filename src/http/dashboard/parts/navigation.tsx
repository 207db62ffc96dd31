import { hasRole, type Visit } from '../visit'
import { Icon, type IconName } from './icons'

/** Groups of the navigation: memory, review, administration. */

interface Place {
  readonly at: string
  readonly label: string
  readonly icon: IconName
}

const MEMORY: readonly Place[] = [
  { at: '/', label: 'Overview', icon: 'overview' },
  { at: '/search', label: 'Search', icon: 'search' },
  { at: '/threads', label: 'Threads', icon: 'threads' },
  { at: '/pack', label: 'Pack', icon: 'pack' },
  { at: '/activity', label: 'Activity', icon: 'activity' },
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
        </a>
      </li>
    ))}
  </ul>
)

/** Review is offered to keys that may write, if capture is on. */
const REVIEW: Place = { at: '/review', label: 'Review', icon: 'review' }

export const placesOf = (visit: Visit): readonly Place[] =>
  hasRole(visit, 'writer') && visit.config.captureDays > 0 ? [...MEMORY, REVIEW] : MEMORY

/** Returns the first page of a visitor; the holder of ADMIN_TOKEN sees no memory, so the overview would be empty. */
export const homeOf = (isOperator: boolean): string => (isOperator ? '/projects' : '/')
