/**
 * The command palette: pages and actions of this page, and what the server finds (`/palette`): memories, threads, projects. A list of
 * options by the combobox pattern of ARIA; the focus stays in the field.
 */
export const PALETTE = `
const pagesHere = () => [...document.querySelectorAll('.menu nav a')].map((link) => ({
  label: [...link.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join('').trim(),
  at: link.getAttribute('href'),
  hint: 'Page',
}))

const actionsHere = () => {
  const edit = document.querySelector('main [data-edit]:not([data-row])')?.dataset.edit
  const signOut = document.querySelector('form[action="/logout"]')
  return [
    ...(edit ? [{ label: 'Edit this memory', at: edit }] : []),
    ...(document.querySelector('.quick, [data-live]') ? [
      { label: 'Preview a context pack', at: '/pack' },
      { label: 'Connect a client', at: '/connect' },
    ] : []),
    { label: 'Colors of the system', act: () => setTheme('system') },
    { label: 'Light colors', act: () => setTheme('light') },
    { label: 'Dark colors', act: () => setTheme('dark') },
    { label: 'Copy the address of this page', act: () => navigator.clipboard.writeText(location.href) },
    { label: 'Keyboard shortcuts', act: () => showKeys() },
    ...(signOut ? [{ label: 'Sign out', act: () => signOut.requestSubmit() }] : []),
  ].map((one) => ({ ...one, hint: 'Action' }))
}

const openPalette = () => {
  if (document.querySelector('dialog')) return
  const known = [...pagesHere(), ...actionsHere()]
  const dialog = dialogOf('Command palette', 'palette')
  const field = element('input')
  const list = element('ul')
  const count = element('p', '', '')
  list.id = 'palette-list'
  list.role = 'listbox'
  list.ariaLabel = 'Pages, memories and actions'
  count.setAttribute('role', 'status')
  Object.assign(field, { type: 'text', role: 'combobox', ariaLabel: 'Find a page, a memory or an action', autocomplete: 'off' })
  field.placeholder = 'Find a page, a memory, a thread, a project or an action'
  field.setAttribute('aria-expanded', 'true')
  field.setAttribute('aria-controls', list.id)
  dialog.append(field, list, count)
  let options = []
  let chosen = 0

  const choose = (place) => {
    chosen = Math.max(0, Math.min(options.length - 1, place))
    for (const [i, one] of [...list.children].entries()) one.ariaSelected = String(i === chosen)
    if (options.length > 0) field.setAttribute('aria-activedescendant', 'palette-' + chosen)
    else field.removeAttribute('aria-activedescendant')
    list.children[chosen]?.scrollIntoView({ block: 'nearest' })
  }
  const run = ({ at, act }) => {
    dialog.close()
    if (at) location.assign(at)
    else act()
  }
  const show = (all) => {
    options = all
    list.replaceChildren(...all.map((option, i) => {
      const item = element('li')
      item.role = 'option'
      item.id = 'palette-' + i
      item.append(element('bdi', '', option.label), element('span', '', option.hint))
      item.addEventListener('click', () => run(option))
      return item
    }))
    count.textContent = all.length === 0 ? 'Nothing found' : '↑ ↓ to choose, Enter to open, Esc to close'
    choose(0)
  }

  const matching = (text) => {
    const words = text.toLowerCase().split(/\\s+/).filter(Boolean)
    return known.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  }
  let asked = null
  let timer
  const find = () => {
    const text = field.value.trim()
    clearTimeout(timer)
    asked?.abort()
    const first = matching(text)
    const search = { label: 'Search for “' + text + '”', at: '/search?q=' + encodeURIComponent(text), hint: 'Search' }
    const isSearching = text !== '' && document.querySelector('.menu nav a[href="/search"]')
    show([...first, ...(isSearching ? [search] : [])])
    if (!isSearching) return
    asked = new AbortController()
    const { signal } = asked
    timer = setTimeout(async () => {
      const answer = await fetch('/palette?q=' + encodeURIComponent(text), { signal }).catch(() => null)
      if (!answer?.ok || signal.aborted) return
      const place = chosen
      show([...first, ...(await answer.json()), search])
      choose(place)
    }, 200)
  }
  field.addEventListener('input', find)
  field.addEventListener('keydown', (event) => {
    const places = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, Home: field.value === '' ? 0 : null, End: field.value === '' ? Infinity : null }
    if (event.key === 'Enter' && options[chosen]) {
      event.preventDefault()
      run(options[chosen])
    } else if (typeof places[event.key] === 'number') {
      event.preventDefault()
      choose(places[event.key])
    }
  })
  show(known)
  dialog.showModal()
  field.focus()
}
`
