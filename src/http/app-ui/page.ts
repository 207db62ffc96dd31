/** The page that all apps share: colors, layout, and the messages between the app and its host. It loads nothing. */

const STYLE = `
:root{color-scheme:light dark;
--paper:light-dark(#fbfaf8,#131210);--card:light-dark(#fff,#1b1a17);--sunken:light-dark(#f4f2ee,#23211e);
--ink:light-dark(#1d1c19,#eeece7);--soft:light-dark(#615d56,#a8a399);--line:light-dark(#e8e5df,#2e2b27);
--edge:light-dark(#8c877e,#7d786e);--accent:light-dark(#0b6b5d,#63cdb7);--on-accent:light-dark(#fff,#06231e);
--bad:light-dark(#a3261b,#ff9c90);--bad-tint:light-dark(#fbeae7,#3a1d19);--tint:light-dark(#e3f1ee,#17312c)}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:400 .9063rem/1.5 var(--font-sans,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif)}
main{display:flow-root;padding:1rem;max-width:52rem;margin:auto}
h1,h2,h3,p,ul,dl,blockquote{margin:0;padding:0}
ul{list-style:none}
h1{font-size:1.125rem;line-height:1.3}
h2{font-size:.8125rem;color:var(--soft);margin:1.25rem 0 .5rem}
h3{font-size:.9375rem;line-height:1.35}
.lead,.facts,.why,.hint{color:var(--soft);font-size:.8125rem}
.lead{margin-top:.25rem}
.list{display:grid;gap:.5rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem .875rem;min-width:0}
.facts{display:flex;flex-wrap:wrap;gap:.125rem .75rem;margin-top:.25rem}
.kind{color:var(--ink);background:var(--sunken);border-radius:.25rem;padding:0 .375rem}
.text{white-space:pre-wrap;margin-top:.5rem}
.text.short{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
.why{margin-top:.375rem}
blockquote{margin-top:.5rem;border-left:.1875rem solid var(--edge);padding-left:.75rem;color:var(--soft)}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.625rem;align-items:center}
.bar{margin:1rem 0 .75rem}
.note{background:var(--tint);border-radius:.5rem;padding:.625rem .875rem;margin-top:.75rem}
.note:empty{display:none}
.note.bad{background:var(--bad-tint)}
label{display:flex;gap:.625rem;align-items:flex-start;cursor:pointer}
input{width:1.125rem;height:1.125rem;margin:.125rem 0 0;accent-color:var(--accent);flex:none}
button{font:550 .8125rem/1.3 inherit;font-family:inherit;color:var(--ink);background:var(--card);border:1px solid var(--edge);
border-radius:.4375rem;padding:.3rem .75rem;min-height:2rem;cursor:pointer}
button:hover{background:var(--sunken)}
button.main{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
button.bad{color:var(--bad);border-color:var(--bad)}
button:disabled{opacity:.6;cursor:default}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:.25rem}
`

/**
 * Messages (JSON-RPC over `postMessage`), elements, and the parts of a memory. A script that follows defines `app`: handlers of the
 * tool's input and result. Stored texts are set as text, never as HTML.
 */
const SHARED = String.raw`
const root = document.documentElement
const main = document.querySelector('main')
const origin = root.dataset.origin
const app = {}

const pending = new Map()
let serial = 0
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const ask = (method, params) =>
  new Promise((resolve, reject) => {
    pending.set(++serial, { resolve, reject })
    post({ id: serial, method, params })
  })

const notified = {
  'ui/notifications/tool-input': (params) => app.input?.(params?.arguments ?? {}),
  'ui/notifications/tool-result': (params) => show(params),
  'ui/notifications/tool-cancelled': () => fail('The call was cancelled.'),
  'ui/notifications/host-context-changed': (params) => fit(params),
}
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return
  const { id, method, params, result, error } = data
  if (method === undefined) {
    const asked = pending.get(id)
    pending.delete(id)
    if (error) asked?.reject(new Error(error.message))
    else asked?.resolve(result)
  } else if (id === undefined) notified[method]?.(params)
  else if (method === 'ping' || method === 'ui/resource-teardown') post({ id, result: {} })
  else post({ id, error: { code: -32601, message: 'Method not found' } })
})

/** The structured content of a tool's result. */
const contentOf = (result) => {
  const text = (result.content ?? []).find(({ type }) => type === 'text')?.text ?? ''
  if (result.isError) throw new Error(text || 'The call failed.')
  return result.structuredContent ?? JSON.parse(text)
}
const callTool = async (name, args) => contentOf(await ask('tools/call', { name, arguments: args }))

const made = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children.filter(Boolean))
  return element
}
const button = (text, act, className = '') => {
  const one = made('button', { type: 'button', className }, text)
  one.addEventListener('click', () => act(one))
  return one
}
/** A link that the host opens. Where the host opens none, its address is shown. */
const link = (text, path) => {
  const href = origin + path
  const one = made('a', { href, target: '_blank', rel: 'noopener' }, text)
  one.addEventListener('click', async (event) => {
    event.preventDefault()
    const opened = await ask('ui/open-link', { url: href }).catch(() => ({ isError: true }))
    if (opened?.isError) one.replaceWith(href)
  })
  return one
}
const date = (at) => {
  const day = new Date(at)
  return Number.isNaN(day.getTime()) ? at : day.toLocaleDateString('en-US', { day: 'numeric', month: 'short', year: 'numeric' })
}
const facts = (...parts) => made('p', { className: 'facts' }, ...parts.map((part) => part && made('span', {}, part)))
const kindOf = ({ kind }) => kind && made('span', { className: 'kind' }, kind.replaceAll('_', ' '))

/** The text of a memory, with a button that fetches all of it where a part is shown. */
const textOf = ({ id, content = '', total_chars: total }, isPart = total !== undefined || content.length > 160) => {
  const short = content.replace(/\s*\n\s*/g, '\n')
  const text = made('p', { className: isPart ? 'text short' : 'text' }, isPart ? short : content)
  const note = made('span', { className: 'hint', role: 'status' })
  const fold = (isOpen, content) => {
    text.textContent = content
    text.className = isOpen ? 'text' : 'text short'
    read.ariaExpanded = String(isOpen)
    read.textContent = isOpen ? 'Read less' : 'Read all'
  }
  const read = button('Read all', async () => {
    note.textContent = ''
    if (read.ariaExpanded === 'true') return fold(false, short)
    note.textContent = 'Reading…'
    try {
      const memory = await callTool('fetch', { id, max_tokens: 8000 })
      fold(true, memory.content)
      note.textContent = memory.truncated ? 'The text goes on: open it on the dashboard.' : ''
    } catch (error) {
      note.textContent = error.message
    }
  })
  read.ariaExpanded = 'false'
  return [text, made('div', { className: 'actions' }, isPart && read, link('Open on the dashboard', '/entries/' + id), note)]
}
/** A card that screen readers name by its title. */
const card = (title, ...children) => {
  const article = made('article', { className: 'card', ariaLabel: title }, ...children)
  return made('li', {}, article)
}

const fail = (message) => main.replaceChildren(made('p', { className: 'note bad', role: 'alert' }, message))
const show = (result) => {
  try {
    app.result(contentOf(result))
  } catch (error) {
    fail(error.message)
  }
}

/** Applies the theme of the host. */
const fit = ({ theme, styles } = {}) => {
  if (theme) root.dataset.theme = theme
  const font = styles?.variables?.['--font-sans']
  if (font) root.style.setProperty('--font-sans', font)
}
let height = 0
new ResizeObserver(() => {
  const now = Math.ceil(main.getBoundingClientRect().height)
  if (now === height) return
  height = now
  post({ method: 'ui/notifications/size-changed', params: { height } })
}).observe(main)
`

/** Starts the app: its handlers are set. */
const START = `
ask('ui/initialize', {
  appInfo: { name: 'commonplace', version: '1' },
  appCapabilities: {},
  protocolVersion: '2026-01-26',
}).then(({ hostContext }) => {
  fit(hostContext)
  post({ method: 'ui/notifications/initialized' })
}, (error) => fail(error.message))
`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Renders the page of an app. @param origin of the dashboard, to which it links */
export const appPage = (
  { title, script }: { readonly title: string; readonly script: string },
  origin: string,
): string =>
  `<!doctype html>
<html lang="en" data-origin="${escaped(origin)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main><h1>${escaped(title)}</h1><p class="lead" role="status">Loading…</p></main>
<script type="module">${SHARED}${script}${START}</script>
</body>
</html>
`
