import { html } from 'hono/html'
import { MAX_NAME } from '../../domain/identity/identity'
import { frame } from '../html'

/**
 * Consent pages, which need no script. `html` escapes every value; names that clients choose
 * are cut, and cannot change the direction or order of the text around them.
 */
export interface Client {
  readonly name: string
  /** Host that publishes its metadata document; null for a client that registered itself. */
  readonly publisher: string | null
  /** The host that the person is redirected to. */
  readonly destination: string
  /** Whether that is a program on the person's own machine. */
  readonly local: boolean
}

/** Cuts a text that a client chose, and removes control characters, including those of writing direction. */
function tame(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim()
  const points = [...plain]
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME).join('')}…` : plain
}

interface Consent {
  readonly client: Client
  /** Binds the form to the browser that received it. */
  readonly token: string
  /** The error of the last submission. */
  readonly error: string | null
  /** Families that the client requested; null for all. */
  readonly families: string | null
}

const ON_YOUR_COMPUTER = html`<p class="note">This is a program on your own computer.
Continue only if you have just started connecting it yourself.</p>`

/** Asks whether a client may use the access of a key. The form is submitted to the address of the page. */
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
 * Sends the person back to the client. Chromium applies `form-action` to every redirect after a form, including those of the
 * client's own site, so this is a page of its own and not a redirect.
 */
export const departurePage = (allowed: boolean, to: string, destination: string) =>
  frame(
    allowed ? 'Allowed' : 'Refused',
    html`<h1>${allowed ? 'Allowed' : 'Refused'}</h1>
<p>You are being sent back. If nothing happens: <a href="${to}">continue to ${destination}</a></p>`,
    html`<meta http-equiv="refresh" content="0;url=${to}">
`,
  )

/** Explains why the request cannot be allowed. @param way back to the client, where the client is verified */
export const troublePage = (message: string, way: { to: string; destination: string } | null = null) =>
  frame(
    'The app cannot be connected',
    html`<h1>The app cannot be connected</h1>
<p role="alert">${message}</p>
${way === null ? '' : html`<p><a href="${way.to}">Back to ${way.destination}</a></p>`}`,
  )
