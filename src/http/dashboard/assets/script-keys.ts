/**
 * Keys of the dashboard, by attributes of the page:
 *
 * * `data-key="a k"`: a form, link, field or fold that these keys use.
 * * `data-row`: a row of a list. `j` and `k` move to its first link, or to the one with `data-open`; `x` ticks its checkbox.
 * * `data-edit="/entries/1/edit"` on a row, or on an element of the page: the address that `e` opens.
 *
 * Users of speech input may switch single keys off (WCAG 2.1.4).
 */
export const KEYS = `
const hasShortcuts = () => document.documentElement.dataset.shortcuts !== 'off'
const isShown = (one) => one.getClientRects().length > 0
const typing = 'input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable]'

const use = (target) => {
  if (target.matches('form')) target.requestSubmit()
  else if (target.matches(typing)) target.focus()
  else if (target.matches('details')) {
    target.open = true
    target.querySelector('input:not([type=hidden]), select').focus()
  } else target.click()
}

const rowsOf = () => [...document.querySelectorAll('[data-row]')].filter(isShown)
const rowHere = () => document.activeElement?.closest('[data-row]') ?? document.querySelector('[data-row].at')

const moveTo = (row) => {
  for (const other of document.querySelectorAll('[data-row].at')) other.classList.remove('at')
  if (!row) return
  row.classList.add('at')
  const target = row.querySelector('[data-open]') ?? row.querySelector('a[href], button, input')
  if (target) target.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

const step = (by) => {
  const rows = rowsOf()
  const at = rows.indexOf(rowHere())
  moveTo(at < 0 ? rows[0] : rows[Math.min(rows.length - 1, Math.max(0, at + by))])
}

/** Actions of single keys in lists; an action returns false where the page has no use for it. */
const inLists = {
  j: () => step(1),
  k: () => step(-1),
  e: () => {
    const at = (rowHere() ?? document.querySelector('main [data-edit]'))?.dataset.edit
    if (at) location.assign(at)
    return Boolean(at)
  },
  x: () => {
    const box = rowHere()?.querySelector('input[type=checkbox]')
    box?.click()
    return Boolean(box)
  },
  '?': () => showKeys(),
}

const dialogOf = (label, className) => {
  const dialog = element('dialog', className)
  dialog.ariaLabel = label
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close() })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  return dialog
}

const fetched = async (path, options) => {
  const answer = await fetch(path, { headers: { accept: 'text/html' }, ...options })
  return answer.ok || answer.status === 400 ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
}

/** The keys are those of the help page. */
const showKeys = async () => {
  if (document.querySelector('dialog')) return
  const dialog = dialogOf('Keyboard shortcuts', 'help')
  const head = element('div', 'dialog-head')
  head.append(actionButton('small plain', 'Close', () => dialog.close()))
  dialog.append(head)
  dialog.showModal()
  const page = await fetched('/help')
  const list = page?.querySelector('#keys')
  if (!list) return location.assign('/help')
  list.querySelector('form').remove()
  list.tabIndex = 0
  dialog.append(document.adoptNode(list))
}

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault()
    return openPalette()
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !hasShortcuts()) return
  if (event.target.closest(typing) || document.querySelector('dialog[open]')) return
  const keyed = [...document.querySelectorAll('[data-key]')]
  const target = keyed.find((one) => one.dataset.key.split(' ').includes(event.key) && isShown(one))
  if (target) {
    if (event.repeat) return
    event.preventDefault()
    return use(target)
  }
  if (!Object.hasOwn(inLists, event.key) || (event.repeat && !'jk'.includes(event.key))) return
  if (inLists[event.key]() !== false) event.preventDefault()
})
`
