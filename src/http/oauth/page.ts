import { html } from 'hono/html'
import { MAX_NAME } from '../../domain/identity/identity'
import { frame } from '../html'

/**
 * What the person sees: plain pages that need no script. Every value is escaped by `html`; names that clients give
 * themselves are cut, and cannot change the direction or the order of the words around them.
 */
export interface Client {
  readonly name: string
  /** Host that publishes its metadata document; null for a client that registered itself. */
  readonly publisher: string | null
  /** Where the person is sent afterwards. */
  readonly destination: string
  /** Whether that is a program on the person's own machine. */
  readonly local: boolean
}

/** Cuts a text that a client chose and takes control characters out of it, those of writing direction included. */
function tame(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim()
  const points = [...plain]
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME).join('')}…` : plain
}

interface Consent {
  readonly client: Client
  /** Ties the form to the browser that was given it. */
  readonly token: string
  /** What was wrong with what the person sent. */
  readonly error: string | null
  /** Families that the client asked for; null for all. */
  readonly families: string | null
}

const ON_YOUR_COMPUTER = html`<p class="note">This is a program on your own computer.
Go on only if you have just started connecting it yourself.</p>`

/** Asks whether a client may use what a key opens. The form goes back to the address it came from. */
export function consentPage({ client, token, error, families }: Consent) {
  const name = tame(client.name)
  const described = error === null ? 'key-hint' : 'key-error key-hint'
  return frame(
    error === null ? `Allow ${name}?` : `Error: allow ${name}?`,
    html`<h1>Allow <bdi>${name}</bdi> to use your memory?</h1>
<dl>
<dt>Published by</dt><dd>${client.publisher ?? 'unknown: this app registered itself, and its name is not verified'}</dd>
<dt>You will be sent back to</dt><dd>${client.destination}</dd>
</dl>
${client.local ? ON_YOUR_COMPUTER : ''}
<h2>It will be able to</h2>
<ul>
<li>read memory, and change it as far as the key below may: in its organization and projects, with its role</li>
${families === null ? '' : html`<li>use these tools only: ${families}</li>`}
</ul>
<p class="hint">It never sees the key. Its access ends 30 days from now, or at once when the key is revoked.</p>
<form method="post">
<input type="hidden" name="page" value="${token}">
<label for="key">Your Commonplace key</label>
${error === null ? '' : html`<p class="error" id="key-error" role="alert">${error}</p>`}
<input id="key" name="key" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required
 aria-describedby="${described}" aria-invalid="${error === null ? 'false' : 'true'}"${error === null ? '' : html` autofocus`}>
<p class="hint" id="key-hint">It begins with cp_. An administrator of your organization makes keys.</p>
<div class="actions">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="refuse" formnovalidate>Refuse</button>
</div>
</form>`,
  )
}

/**
 * Takes the person back to the client. Chromium holds every redirect after a form to `form-action`, those of the client's
 * own site included, so the way back is a page of its own and not a redirect.
 */
export const departurePage = (allowed: boolean, to: string, destination: string) =>
  frame(
    allowed ? 'Allowed' : 'Refused',
    html`<h1>${allowed ? 'Allowed' : 'Refused'}</h1>
<p>You are being sent back. If nothing happens: <a href="${to}">continue to ${destination}</a></p>`,
    html`<meta http-equiv="refresh" content="0;url=${to}">
`,
  )

/** Says why there is nothing to allow. @param way back to the client, where it is known to be the client's own */
export const troublePage = (message: string, way: { to: string; destination: string } | null = null) =>
  frame(
    'This does not work',
    html`<h1>This does not work</h1>
<p role="alert">${message}</p>
${way === null ? '' : html`<p><a href="${way.to}">Back to ${way.destination}</a></p>`}`,
  )
