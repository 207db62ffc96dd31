import { KEYS } from './script-keys'
import { PALETTE } from './script-palette'
import { SEARCH } from './script-search'
import { versioned } from './versioned'

/** Times in the reader's zone, copy buttons, rows of conditions, the change feed, the theme, toasts. */
const BASE = `
const zone = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })
const localTimes = (root) => {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    time.title = zone.format(at)
    if (!time.dataset.local) continue
    const year = at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
    const day = at.toLocaleDateString('en-US', { day: 'numeric', month: 'short', year })
    const hours = at.toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    time.textContent = time.dataset.local === 'minute' ? day + ', ' + hours : day
  }
}
localTimes(document)

const element = (name, className, text) => {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text) made.textContent = text
  return made
}

const actionButton = (className, text, act) => {
  const made = element('button', className, text)
  made.type = 'button'
  made.addEventListener('click', act)
  return made
}

for (const pre of document.querySelectorAll('pre[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  pre.after(button)
}

const conditions = document.querySelector('.conditions')
if (conditions) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small'
  button.textContent = 'Add a condition'
  button.addEventListener('click', () => {
    const row = conditions.lastElementChild.cloneNode(true)
    for (const input of row.querySelectorAll('input')) input.value = ''
    conditions.append(row)
    row.querySelector('input').focus()
  })
  conditions.after(button)
}

const SIGNS = { stored: '+', updated: '~', deleted: '−' }
const WORDS = { stored: 'stored', updated: 'changed', deleted: 'deleted' }

const changeItem = (change) => {
  const item = element('li', 'change fresh ' + change.action)
  item.dataset.row = ''
  item.dataset.edit = '/entries/' + Number(change.context_id) + '/edit'
  const sign = element('span', 'sign', SIGNS[change.action])
  sign.setAttribute('aria-hidden', 'true')
  const line = element('p', 'facts')
  const who = element('span')
  who.append(element('strong', '', change.agent || 'somebody'), ' ' + WORDS[change.action])
  line.append(who)
  if (change.kind) line.append(element('span', 'kind kind-' + change.kind, change.kind.replaceAll('_', ' ')))
  if (change.thread_id) {
    const thread = element('a', 'quiet', change.thread_id)
    thread.href = '/threads?id=' + encodeURIComponent(change.thread_id)
    line.append(thread)
  }
  const time = element('time', '', 'just now')
  time.dateTime = change.at
  line.append(time)
  const text = element('p', 'excerpt')
  const link = element('a', '', (change.preview || '').trim() || 'Memory ' + Number(change.context_id))
  link.href = '/entries/' + Number(change.context_id)
  link.dataset.open = ''
  text.append(link)
  item.append(sign, line, text)
  localTimes(item)
  return item
}

const feed = document.querySelector('[data-feed]')
if (feed) {
  const list = feed.querySelector('ol')
  const status = feed.querySelector('.live')
  const source = new EventSource(feed.dataset.feed)
  source.addEventListener('open', () => {
    status.classList.add('on')
    status.textContent = 'Live: new changes appear here'
  })
  source.addEventListener('error', () => {
    status.classList.remove('on')
    status.textContent = source.readyState === EventSource.CLOSED ? 'Stopped: reload the page' : 'Reconnecting'
  })
  source.addEventListener('message', (event) => {
    list.prepend(changeItem(JSON.parse(event.data)))
    feed.querySelector('.nothing')?.remove()
    while (list.children.length > 200) list.lastElementChild.remove()
  })
  source.addEventListener('end', () => {
    source.close()
    status.classList.remove('on')
    status.textContent = 'Stopped: reload the page'
  })
}

const preference = (name, value) => {
  document.cookie = 'commonplace-' + name + '=' + value + '; path=/; max-age=31536000; samesite=lax'
}

const setTheme = (theme) => {
  preference('theme', theme)
  document.documentElement.dataset.theme = theme
  for (const button of document.querySelectorAll('.theme button')) button.ariaPressed = String(button.value === theme)
}
document.querySelector('.theme')?.addEventListener('submit', (event) => {
  event.preventDefault()
  setTheme(event.submitter.value)
})

for (const toast of document.querySelectorAll('[data-toast]')) {
  const close = actionButton('close', '\\u00d7', () => toast.remove())
  close.ariaLabel = 'Close'
  toast.append(close)
}
`

/**
 * The one script, as the browser gets it; its parts share one scope. Every page works without it. Stored data reaches the page as text
 * only.
 */
export const SCRIPT = `${BASE}${KEYS}${PALETTE}${SEARCH}`
export const SCRIPT_AT = versioned('/assets/dashboard.js', SCRIPT)
