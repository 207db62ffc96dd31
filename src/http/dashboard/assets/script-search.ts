/**
 * Search as you type: by words, from the third character, 250 ms after the last key. The address of the page is that of the complete
 * search, which Enter starts. Suggestions of names and memories, and saved views, which stay in this browser.
 */
export const SEARCH = `
/** Calls back when a person focuses a field, and 250 ms after the last key. */
const whileTyping = (input, act) => {
  let pause
  input.addEventListener('focus', act)
  input.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(act, 250)
  })
}

for (const input of document.querySelectorAll('[data-suggest]')) {
  const list = element('datalist')
  list.id = input.id + '-names'
  input.after(list)
  input.setAttribute('list', list.id)
  whileTyping(input, async () => {
    const query = new URLSearchParams({ field: input.dataset.suggest, q: input.value })
    const answer = await fetch('/suggest?' + query).catch(() => null)
    if (!answer?.ok) return
    list.replaceChildren(...(await answer.json()).map((name) => {
      const option = element('option')
      option.value = name
      return option
    }))
  })
}

// A field of IDs finds memories by words; the chosen one replaces the words after the last comma.
for (const input of document.querySelectorAll('[data-memories]')) {
  const list = element('ul', 'found')
  list.ariaLabel = 'Memories with these words'
  list.setAttribute('aria-live', 'polite')
  input.after(list)
  whileTyping(input, async () => {
    const words = input.value.split(',').at(-1).trim()
    const isSearched = words.length >= 3 && !/^\\d+$/.test(words)
    const answer = isSearched ? await fetch('/palette?' + new URLSearchParams({ q: words })).catch(() => null) : null
    const found = answer?.ok ? (await answer.json()).filter(({ at }) => at.startsWith('/entries/')) : []
    list.replaceChildren(...found.map(({ label, at }) => {
      const id = at.split('/')[2]
      const item = element('li')
      item.append(actionButton('small plain', label + ' (' + id + ')', () => {
        const before = input.value.split(',').slice(0, -1).map((one) => one.trim())
        input.value = [...before, id].join(', ')
        list.replaceChildren()
        input.focus()
      }))
      return item
    }))
  })
}

const live = document.querySelector('[data-live]')
if (live) {
  const field = live.elements.q
  const usual = { by: 'both', mode: 'match', sort: 'best' }
  const given = () => new URLSearchParams([...new FormData(live)])
  const status = element('p', 'hidden')
  status.setAttribute('role', 'status')
  live.after(status)
  // Rows of conditions stay complete, because key, comparison and value belong together by their place.
  live.addEventListener('formdata', ({ formData }) => {
    const [keys, operators, values] = ['field', 'op', 'value'].map((name) => formData.getAll(name))
    for (const [name, value] of [...formData]) if (value === '' || value === usual[name]) formData.delete(name)
    for (const name of ['field', 'op', 'value']) formData.delete(name)
    for (const [i, key] of keys.entries()) {
      if (key.trim() === '') continue
      formData.append('field', key)
      formData.append('op', operators[i])
      formData.append('value', values[i])
    }
  })
  let asked = null
  let timer
  const find = async () => {
    asked = new AbortController()
    const { signal } = asked
    const query = given()
    history.replaceState(null, '', '/search?' + query)
    query.set('live', '1')
    const page = await fetched('/search?' + query, { signal }).catch(() => null)
    const results = page?.querySelector('#results')
    if (!results || signal.aborted) return
    for (const link of results.querySelectorAll('a[href*="live=1"]'))
      link.href = link.getAttribute('href').replace(/([?&])live=1&?/, '$1').replace(/[?&]$/, '')
    document.querySelector('#results').replaceWith(document.adoptNode(results))
    localTimes(results)
    status.textContent = results.querySelector('h2, .nothing-title')?.textContent ?? ''
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    asked?.abort()
    if ([...field.value.trim()].length >= 3) timer = setTimeout(find, 250)
  })
  live.elements.sort?.addEventListener('change', () => live.requestSubmit())

  // People who share a browser have views of their own.
  const viewsOf = 'views ' + live.dataset.live
  const stored = () => {
    try {
      const all = JSON.parse(localStorage.getItem(viewsOf))
      return Array.isArray(all) ? all.filter((one) => typeof one === 'string') : []
    } catch {
      return []
    }
  }
  const views = element('ul', 'chips')
  views.ariaLabel = 'Saved views'
  live.after(views)
  const save = (all) => {
    localStorage.setItem(viewsOf, JSON.stringify(all))
    showViews()
  }
  const nameOf = (query) => {
    const given = new URLSearchParams(query)
    const [keys, operators, values] = ['field', 'op', 'value'].map((name) => given.getAll(name))
    return [
      ...[...given].filter(([name]) => !['by', 'mode', 'field', 'op', 'value'].includes(name))
        .map(([name, value]) => (name === 'q' ? value : name + ': ' + value)),
      ...keys.map((key, i) => [key, operators[i], values[i]].join(' ').trim()),
    ].join(', ')
  }
  const showViews = () => {
    const all = stored()
    views.replaceChildren(...all.map((query) => {
      const item = element('li')
      const link = element('a', 'view', nameOf(query))
      link.href = '/search?' + query
      const remove = actionButton('', '\\u00d7', () => save(stored().filter((one) => one !== query)))
      remove.ariaLabel = 'Remove the view ' + nameOf(query)
      item.append(link, remove)
      return item
    }))
    views.hidden = all.length === 0
  }
  showViews()
  live.querySelector('.sort').append(actionButton('small', 'Save view', () => {
    const query = given().toString()
    if (nameOf(query) !== '' && !stored().includes(query)) save([...stored(), query])
  }))
}
`
