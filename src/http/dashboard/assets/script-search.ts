/**
 * Search as you type: by words, from the third character, 250 ms after the last key. The address of the page is that of the complete
 * search, which Enter starts. Suggestions of filters, and saved views, which stay in this browser.
 */
export const SEARCH = `
const live = document.querySelector('[data-live]')
if (live) {
  const field = live.elements.q
  const given = () => new URLSearchParams([...new FormData(live)].filter(([, value]) => value !== ''))
  const status = element('p', 'hidden')
  status.setAttribute('role', 'status')
  live.after(status)
  live.addEventListener('formdata', (event) => {
    for (const [name, value] of [...event.formData]) if (value === '') event.formData.delete(name)
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
  live.elements.sort.addEventListener('change', () => live.requestSubmit())

  for (const input of live.querySelectorAll('[data-suggest]')) {
    const list = element('datalist')
    list.id = input.id + '-names'
    input.after(list)
    input.setAttribute('list', list.id)
    let pause
    const suggest = async () => {
      const query = new URLSearchParams({ field: input.dataset.suggest, q: input.value })
      const answer = await fetch('/suggest?' + query).catch(() => null)
      if (!answer?.ok) return
      list.replaceChildren(...(await answer.json()).map((name) => {
        const option = element('option')
        option.value = name
        return option
      }))
    }
    input.addEventListener('focus', suggest)
    input.addEventListener('input', () => {
      clearTimeout(pause)
      pause = setTimeout(suggest, 250)
    })
  }

  const stored = () => {
    try {
      const all = JSON.parse(localStorage.getItem('views'))
      return Array.isArray(all) ? all.filter((one) => typeof one === 'string') : []
    } catch {
      return []
    }
  }
  const views = element('ul', 'chips')
  views.ariaLabel = 'Saved views'
  live.after(views)
  const save = (all) => {
    localStorage.setItem('views', JSON.stringify(all))
    showViews()
  }
  const nameOf = (query) => [...new URLSearchParams(query)]
    .filter(([name, value]) => !(['by', 'mode', 'op'].includes(name) || (name === 'sort' && value === 'best')))
    .map(([name, value]) => (name === 'q' ? value : name + ': ' + value)).join(', ')
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
