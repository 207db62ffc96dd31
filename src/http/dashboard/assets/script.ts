import { versioned } from './versioned'

/**
 * The one script, as the browser gets it. Every page works without it. It shows times in the reader's zone, adds copy buttons, adds
 * rows of conditions, submits the review forms by single keys, and follows the change feed on the activity page. Stored data reaches
 * the page as text only.
 */
export const SCRIPT = `
const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const localTimes = (root) => {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    time.title = zone.format(at)
    const year = at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
    if ('day' in time.dataset) time.textContent = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year })
  }
}
localTimes(document)

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

const element = (name, className, text) => {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text) made.textContent = text
  return made
}

const SIGNS = { stored: '+', updated: '~', deleted: '−' }
const WORDS = { stored: 'stored', updated: 'changed', deleted: 'deleted' }

const changeItem = (change) => {
  const item = element('li', 'change fresh ' + change.action)
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

/** Single-key shortcuts, which users of speech input may switch off (WCAG 2.1.4). */
const keyed = [...document.querySelectorAll('[data-key]')]
const isOff = () => localStorage.getItem('single-keys') === 'off'
const nav = document.querySelector('.side nav')
if (nav && keyed.length > 0) {
  const button = element('button', 'small plain')
  button.type = 'button'
  const say = () => { button.textContent = isOff() ? 'Single keys: off' : 'Single keys: on' }
  button.addEventListener('click', () => {
    localStorage.setItem('single-keys', isOff() ? 'on' : 'off')
    say()
  })
  say()
  nav.append(button)
  nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isOff()) return
  if (event.target.closest('input:not([type=radio], [type=checkbox]), select, textarea')) return
  const target = keyed.find((one) => one.dataset.key.split(' ').includes(event.key) && one.getClientRects().length > 0)
  if (!target) return
  event.preventDefault()
  if (target.matches('form')) target.requestSubmit()
  else if (target.matches('input[type=search]')) target.focus()
  else if (target.matches('details')) {
    target.open = true
    target.querySelector('input:not([type=hidden]), select').focus()
  } else target.click()
})
`
export const SCRIPT_AT = versioned('/assets/dashboard.js', SCRIPT)
