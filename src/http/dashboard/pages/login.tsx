import type { Config } from '../../../config'
import { isWellFormedKey } from '../../../domain/identity/key'
import { OPERATOR_SESSION } from '../../../domain/identity/session'
import type { Services } from '../../../services/services'
import { createPageToken, isFromOurPage, pageCookie, readForm } from '../../oauth/form'
import { type Page, respondWith, seeOther } from '../page'
import { Copyable } from '../parts/common'
import { claudeCodeLine } from '../parts/connect'
import { homeOf, PublicFrame } from '../parts/frame'
import { safePath, withQuery } from '../parts/words'
import { beginSession, keyIdOf } from '../session'
import { isForm, readSent } from '../visit'

/** The page to sign in with a key, which then continues to the requested page. */
interface Asking {
  readonly request: Request
  readonly config: Config
  readonly services: Pick<Services, 'identity' | 'sessions' | 'now'>
}

/** Wrong keys per minute from one address. A valid key is never refused: strangers at the same address cannot lock its user out. */
export const WRONG_KEYS_A_MINUTE = 120

const STALE = 'This page was open for too long, or in another window. Paste the key again.'
const UNKNOWN = 'This key is not valid. It may have been mistyped, have expired or have been revoked.'

const ENDED = 'Your session has ended, so nothing was done. Sign in and try again.'

/** Text of a submitted form that was not stored. */
const Written = ({ text }: { text: string }) => (
  <div class="card stack-form">
    <h2>Your text</h2>
    <p class="soft">It was not stored. Copy it before you sign in.</p>
    <textarea aria-label="Your text" rows={10} readonly>
      {text}
    </textarea>
  </div>
)

/** Links that sign in by an identity provider; none where it is not configured. */
export function signInWays({ signIn: { access, openId } }: Config, request: Request, next: string) {
  const isBehindAccess = access !== null && request.headers.has('cf-access-jwt-assertion')
  return [
    ...(isBehindAccess
      ? [{ label: 'Sign in with Cloudflare Access', href: withQuery('/login/access', { next }) }]
      : []),
    ...(openId === null ? [] : [{ label: `Sign in with ${openId.name}`, href: withQuery('/login/oidc', { next }) }]),
  ]
}

const loginPage = (url: URL, { next, error, written, ways }: Shown, token: string): Page => ({
  title: error === undefined ? 'Sign in' : 'Error: sign in',
  body: (
    <>
      <div class="card">
        <h1>Sign in</h1>
        {ways.map(({ label, href }) => (
          <p class="more">
            <a class="button" href={href}>
              {label}
            </a>
          </p>
        ))}
        <form method="post" action="/login" class="stack-form more">
          <input type="hidden" name="page" value={token} />
          <input type="hidden" name="next" value={next} />
          <div class="field">
            <label for="key">Your Commonplace key</label>
            {error === undefined ? null : (
              <p class="note bad" id="key-error" role="alert">
                {error}
              </p>
            )}
            <input
              id="key"
              name="key"
              type="password"
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              required
              autofocus
              aria-invalid={error === undefined ? undefined : 'true'}
              aria-describedby={error === undefined ? 'key-hint' : 'key-error key-hint'}
            />
            <p class="hint" id="key-hint">
              It begins with cp_. You see what this key may see, for eight hours; the key itself is not stored.
            </p>
          </div>
          <button type="submit" class="main">
            Sign in
          </button>
        </form>
      </div>
      {written === undefined ? null : <Written text={written} />}
      <div class="card">
        <h2>Connecting a program?</h2>
        <p class="soft">This is an MCP server. Programs use its address, with a key or by OAuth.</p>
        <div class="more">
          <Copyable
            text={claudeCodeLine({ origin: url.origin, open: false, key: null })}
            label="Command for Claude Code"
          />
        </div>
      </div>
    </>
  ),
})

interface Shown extends ToShow {
  readonly ways: readonly { readonly label: string; readonly href: string }[]
}

interface ToShow {
  readonly next: string
  readonly error?: string
  readonly status: number
  readonly token?: string
  /** The error of a form that was sent too late. */
  readonly written?: string
}

/** Renders the page that asks for a key. @param shown its `next` is the page that the person requested */
export function askForKey(request: Request, config: Config, shown: ToShow): Response {
  const url = new URL(request.url)
  const { status, token = createPageToken() } = shown
  const page = loginPage(url, { ...shown, ways: signInWays(config, request, shown.next) }, token)
  return respondWith(<PublicFrame page={page} />, {
    origin: url.origin,
    status,
    headers: { 'Set-Cookie': pageCookie(token, url) },
  })
}

/** Answers a form whose session has ended: shows the text that was written in it, and links to its page. */
export async function askAgain(request: Request, config: Config): Promise<Response> {
  const { origin, pathname } = new URL(request.url)
  if (pathname === '/logout') return seeOther('/login')
  const shown = { status: 401, error: ENDED }
  // A page of another site cannot inject text here.
  if (request.headers.get('origin') !== origin) return askForKey(request, config, { ...shown, next: '/' })
  const from = request.headers.get('referer')?.split(origin)[1] ?? null
  // The sender is not authenticated, so files are not read.
  const sent = isForm(request) ? await readSent(request).catch(() => null) : null
  const written = ['text', 'content'].map((name) => sent?.form.get(name)?.trim()).find((text) => text)
  return askForKey(request, config, { ...shown, next: safePath(from), ...(written === undefined ? {} : { written }) })
}

export interface SignIn {
  readonly response: Response
  /** Whether a form of our page sent a well-formed key that is not valid; false for a typo or another site's form. */
  readonly isWrongKey: boolean
}

/** Handles the form of that page. */
export async function signIn({ request, services, config }: Asking): Promise<SignIn> {
  const url = new URL(request.url)
  const form = await readForm(request)
  const next = safePath(form?.get('next') ?? null)
  if (form === null || !isFromOurPage(request, form))
    return { response: askForKey(request, config, { next, error: STALE, status: 403 }), isWrongKey: false }
  const token = form.get('page') ?? ''
  const key = (form.get('key') ?? '').trim()
  const keyId = await keyIdOf(key, services)
  if (keyId === null) {
    const response = askForKey(request, config, { next, error: UNKNOWN, status: 400, token })
    return { response, isWrongKey: isWellFormedKey(key) }
  }
  const response = seeOther(next === '/' ? homeOf(keyId === OPERATOR_SESSION) : next)
  response.headers.append('Set-Cookie', pageCookie(token, url, 0))
  response.headers.append('Set-Cookie', (await beginSession(services, url, keyId)).cookie)
  return { response, isWrongKey: false }
}

/**
 * A browser that follows a link of another site sends no cookie that is `SameSite=Strict`. This page makes it send the
 * request again from here, with the cookie; without a session the page asks for a key.
 */
export const comeAgain = (request: Request): Response | null => {
  const { pathname, search, origin } = new URL(request.url)
  if (request.headers.get('sec-fetch-site') !== 'cross-site') return null
  const path = safePath(`${pathname}${search}`)
  return respondWith(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="refresh" content={`0;url=${path}`} />
        <title>Opening – Commonplace</title>
      </head>
      <body>
        <main>
          <p>
            <a href={path}>Go on</a>
          </p>
        </main>
      </body>
    </html>,
    { origin },
  )
}
