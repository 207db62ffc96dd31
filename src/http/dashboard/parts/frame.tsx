import { SCRIPT_AT } from '../assets/script'
import { STYLE_AT } from '../assets/style'
import type { Page } from '../page'
import { administers, type Visit } from '../visit'
import { Name } from './common'
import { PostForm } from './form'
import { Mark } from './icons'
import { ADMINISTRATION, homeOf, Places, placesOf } from './navigation'

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

/** The search box of every page; hidden on small screens, where the search page is in the navigation. */
const Quick = () => (
  <search class="quick">
    <form method="get" action="/search">
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
  /** Captured sessions that wait for the visitor's review. */
  readonly waiting: number
}

export const Frame = ({ visit, page, waiting }: FrameProps) => (
  <html lang="en">
    <Head title={page.title} />
    <body>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="shell">
        <header class="side">
          <a class="brand" href={homeOf(visit.credential.kind === 'operator')}>
            <Mark />
            Commonplace
          </a>
          {visit.credential.kind === 'operator' ? null : <Quick />}
          <nav aria-label="Main">
            {visit.credential.kind === 'operator' ? null : (
              <Places places={placesOf(visit, waiting)} at={page.at} label="Memory" />
            )}
            {administers(visit) ? <Places places={ADMINISTRATION} at={page.at} label="Administration" /> : null}
          </nav>
          <Who visit={visit} />
        </header>
        <main id="content" tabindex={-1}>
          {page.body}
        </main>
      </div>
    </body>
  </html>
)

/** The frame of a page without a session. */
export const Door = ({ page }: { page: Page }) => (
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
