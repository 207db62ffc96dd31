import { html } from 'hono/html'

/** The frame and headers that all pages share: no script is needed, one style, and no other code can run. */
export type Html = ReturnType<typeof html>
export type Page = (nonce: string) => unknown

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#57606a;--line:#6e7781;
--act:#0b57d0;--on-act:#fff;--bad:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#16191d;--soft:#aab2bb;--line:#8b949e;
--act:#a8c7fa;--on-act:#062e6f;--bad:#ff9ea8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem;max-width:34rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.05rem;margin:1.25rem 0 .25rem}
dl{margin:0}dt{color:var(--soft)}dd{margin:0 0 .5rem;font-weight:600}
pre{overflow-x:auto;padding:.6rem;border:1px solid var(--line);border-radius:.3rem;font:.9rem/1.4 ui-monospace,monospace}
pre.text{white-space:pre-wrap}
ul{margin:.25rem 0;padding-left:1.25rem}
.note{border-left:.25rem solid var(--line);padding:.1rem .75rem;margin:1rem 0}
label{display:block;font-weight:600;margin-top:1.25rem}
.hint{color:var(--soft);margin:.25rem 0}
.error{color:var(--bad);font-weight:600;margin:.25rem 0}
input{width:100%;font:inherit;padding:.6rem;border:1px solid var(--line);border-radius:.3rem;background:var(--paper);color:var(--ink)}
input[aria-invalid=true]{border:2px solid var(--bad)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1rem}
button{font:inherit;font-weight:600;padding:.6rem 1.25rem;min-height:2.75rem;
border:1px solid var(--act);border-radius:.3rem;cursor:pointer;background:var(--paper);color:var(--act)}
button.main{background:var(--act);color:var(--on-act)}
a{color:var(--act)}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
`

/** Renders a page around a body; `html` escapes every value in it. The nonce allows its style only. */
export const frame =
  (title: string, body: Html, head: Html | string = '') =>
  (nonce: string) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} – Commonplace</title>
${head}<style nonce="${nonce}">${STYLE}</style>
</head>
<body><main>
${body}
</main></body>
</html>
`

/**
 * Returns a page as a response that allows no scripts and no caching. The headers of every answer (http/app.ts) prevent framing
 * and referrers.
 *
 * @param origin the only origin that may read it
 * @param forms whether it has a form, which is submitted to this server
 */
export async function respondWithPage(
  page: Page,
  { origin, status = 200, forms = false, headers = {} }: PageOptions,
): Promise<Response> {
  const nonce = crypto.randomUUID()
  const target = forms ? "'self'" : "'none'"
  const policy = [
    `default-src 'none'; style-src 'nonce-${nonce}'; form-action ${target}`,
    `frame-ancestors 'none'; base-uri 'none'`,
  ].join('; ')
  return new Response(String(await page(nonce)), {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
      // No page of another origin reads this, whatever the rest of the server allows.
      'Access-Control-Allow-Origin': origin,
      ...headers,
    },
  })
}

interface PageOptions {
  readonly origin: string
  readonly status?: number
  readonly forms?: boolean
  readonly headers?: Record<string, string>
}
