import { ABOUT } from '../../../domain/about'
import { MOST_WAITING } from '../../../domain/capture/review'
import { SCRIPT_AT } from '../assets/script'
import { STYLE_AT } from '../assets/style'
import type { Page } from '../page'
import { THEMES } from '../preferences'
import { administers, administersAll, hasRole, type Visit } from '../visit'
import { Name } from './common'
import { PostForm } from './form'

/** Icons of the navigation: strokes in a square of 16. Each has a text label next to it. */
const PATHS = {
  overview: 'M2.5 13.5v-5m4 5v-9m4 9V7m3 6.5v-11',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  threads: 'M2.5 3h11v8h-6l-3 2.5V11h-2V3Zm3 2.8h5m-5 2.4h3.5',
  pack: 'M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11V5ZM8 8v5.5M2.5 5 8 8l5.5-3',
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  usage: 'M2.5 13.5h11M4 11V8m4 3V3.5M12 11V6',
  review: 'M2.5 3.5h8m-8 4h5m-5 4h3m3-.8 2 2 4-4.5',
  stale: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6',
  projects: 'M2 4.5V13h12V6H8L6.5 4.5H2Z',
  keys: 'M9.5 9.2 3.5 15M6 12.5l1.5 1.5M11 9.5A3.5 3.5 0 1 0 11 2.5a3.5 3.5 0 0 0 0 7Z',
  audit: 'M4 2h6l2.5 2.5V14H4V2Zm2.5 5.5h4m-4 3h4',
  backups: 'M2.5 2.5h11v3h-11v-3Zm1 3v8h9v-8M6.5 8.5h3',
  cost: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm1.8-7.6c-.3-.7-1-1-1.8-1-1 0-1.8.5-1.8 1.3 0 1.9 3.7.8 3.7 2.7 0 .8-.9 1.3-1.9 1.3-.9 0-1.6-.4-1.9-1.1M8 4.3v1m0 5.4v1',
  settings: 'M2 4.5h6m4 0h2M2 11.5h2m4 0h6M10 2.8v3.4M6 9.8v3.4',
  menu: 'M2.5 4.5h11m-11 3.5h11m-11 3.5h11',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.3a1.7 1.7 0 1 1 2.6 1.5c-.6.4-.9.7-.9 1.3m0 2v.1',
  system: 'M2.5 3h11v7.5h-11V3ZM6 13.5h4M8 10.5v3',
  light:
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.3m0 10.4v1.3M1.5 8h1.3m10.4 0h1.3M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9',
  dark: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
)

/** The logo: an open book. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
    <path d="M12 6.5C10 4.8 7 4.2 3 4.5v13c4-.3 7 .3 9 2 2-1.7 5-2.3 9-2v-13c-4-.3-7 .3-9 2Zm0 0v13" />
  </svg>
)

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

const administrationOf = (visit: Visit): readonly Place[] => [
  { at: '/projects', label: 'Projects', icon: 'projects' },
  { at: '/keys', label: 'Keys', icon: 'keys' },
  { at: '/audit', label: 'Audit log', icon: 'audit' },
  ...(administersAll(visit)
    ? ([
        { at: '/backups', label: 'Backups', icon: 'backups' },
        { at: '/cost', label: 'Cost', icon: 'cost' },
      ] as const)
    : []),
  { at: '/settings', label: 'Settings', icon: 'settings' },
]

const HELP: Place = { at: '/help', label: 'Help', icon: 'help' }

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

/** Counts of items that wait for the visitor: captured sessions to review, and pairs of memories to settle. */
export interface Waiting {
  readonly sessions: number
  readonly pairs: number
}

export const placesOf = (visit: Visit, { sessions, pairs }: Waiting): readonly Place[] => [
  ...MEMORY,
  ...(reviews(visit) ? [{ ...REVIEW, waiting: sessions }] : []),
  ...(hasRole(visit, 'writer') ? [{ ...STALE, waiting: pairs }] : []),
]

/** Returns the first page of a visitor; the holder of ADMIN_TOKEN sees no memory, so the overview would be empty. */
export const homeOf = (isOperator: boolean): string => (isOperator ? '/projects' : '/')

/** The frame of every page: head, navigation, the current key. */
const Head = ({ title }: { title: string }) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{title} – Commonplace</title>
    <link rel="icon" href="/assets/mark.svg" type="image/svg+xml" />
    <link rel="stylesheet" href={STYLE_AT} />
    <script src={SCRIPT_AT} type="module" />
  </head>
)

/** The key of the session: pages show what this key can see. */
function Who({ visit }: { visit: Visit }) {
  const { credential, config } = visit
  const isOpen = config.authMode === 'open'
  return (
    <div class="who">
      {credential.kind === 'operator' ? (
        <p>
          <strong>ADMIN_TOKEN</strong>
          <span class="soft">all organizations</span>
        </p>
      ) : (
        <p>
          <strong>
            <Name>{isOpen ? 'This computer' : (credential.principal.agent ?? credential.principal.owner ?? '')}</Name>
          </strong>
          <span class="soft">
            {isOpen ? 'open mode' : `${credential.principal.role} of ${credential.principal.org}`}
          </span>
          {credential.principal.projects === null ? null : (
            <span class="soft">
              sees <Name>{credential.principal.projects.join(', ')}</Name>
            </span>
          )}
        </p>
      )}
      {isOpen ? null : (
        <PostForm action="/logout" token={visit.formToken}>
          <button type="submit" class="small">
            Sign out
          </button>
        </PostForm>
      )}
    </div>
  )
}

const THEME_WORDS = { system: 'Colors of the system', light: 'Light colors', dark: 'Dark colors' } as const

/** The switch of the theme. The script changes the colors without loading the page again. */
const Theme = ({ visit: { formToken, preferences } }: { visit: Visit }) => (
  <PostForm action="/preferences" token={formToken} class="theme">
    {THEMES.map((theme) => (
      <button type="submit" name="theme" value={theme} aria-pressed={theme === preferences.theme ? 'true' : 'false'}>
        <Icon name={theme} />
        <span class="hidden">{THEME_WORDS[theme]}</span>
      </button>
    ))}
  </PostForm>
)

/** The search box of every page, except of the search page, which has its own. */
const Quick = () => (
  <search class="quick">
    <form method="get" action="/search">
      <Icon name="search" />
      <input
        type="search"
        name="q"
        aria-label="Search everything"
        placeholder="Search"
        autocomplete="off"
        maxlength={10_000}
        data-key="/"
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </form>
  </search>
)

interface FrameProps {
  readonly visit: Visit
  readonly page: Page
  readonly waiting: Waiting
}

/** On a small screen the menu is a popover, which needs no script; on a wide one it is a column. */
const Menu = ({ visit, page, waiting }: FrameProps) => {
  const isOperator = visit.credential.kind === 'operator'
  return (
    <div class="menu" id="menu" popover="auto">
      <nav aria-label="Main">
        {isOperator ? null : <Places places={placesOf(visit, waiting)} at={page.at} label="Memory" />}
        {administers(visit) ? <Places places={administrationOf(visit)} at={page.at} label="Administration" /> : null}
        <Places places={[HELP]} at={page.at} label="Support" />
      </nav>
      <div class="foot">
        <Who visit={visit} />
        <div class="about">
          <Theme visit={visit} />
          <span class="soft">{ABOUT.version}</span>
        </div>
      </div>
    </div>
  )
}

export const Frame = ({ visit, page, waiting }: FrameProps) => {
  const isOperator = visit.credential.kind === 'operator'
  const { theme, hasShortcuts } = visit.preferences
  const all = waiting.sessions + waiting.pairs
  return (
    <html lang="en" data-theme={theme} data-shortcuts={hasShortcuts ? 'on' : 'off'}>
      <Head title={page.title} />
      <body>
        <div class="skips">
          <a class="skip" href="#content">
            Skip to content
          </a>
          {page.list === undefined ? null : (
            <a class="skip" href="#list">
              {page.list}
            </a>
          )}
        </div>
        <div class="shell">
          <header class="side">
            <a class="brand" href={homeOf(isOperator)}>
              <Mark />
              <span>Commonplace</span>
            </a>
            {isOperator || page.at === '/search' ? null : <Quick />}
            <button type="button" class="menu-button" popovertarget="menu">
              <Icon name="menu" />
              Menu
              {all === 0 ? null : (
                <span class="waiting">
                  {all}
                  <span class="hidden"> waiting</span>
                </span>
              )}
            </button>
            <Menu visit={visit} page={page} waiting={waiting} />
          </header>
          <main id="content" tabindex={-1}>
            {page.body}
          </main>
        </div>
      </body>
    </html>
  )
}

/** The frame of a page without a session. */
export const PublicFrame = ({ page }: { page: Page }) => (
  <html lang="en">
    <Head title={page.title} />
    <body>
      <main id="content" class="door">
        <p class="brand">
          <Mark />
          Commonplace
        </p>
        {page.body}
      </main>
    </body>
  </html>
)
