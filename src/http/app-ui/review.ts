/** Shows the result of `review`: sessions to tick, and buttons that ask the host to approve or drop them. */
export const REVIEW_SCRIPT = `
let asked = {}
app.input = (args) => { asked = args }

const READERS = { org: 'once approved: readable by the organization', project: 'once approved: readable in its project' }
const plural = (count) => (count === 1 ? '1 session' : count + ' sessions')

let waiting = []
let next
const status = made('p', { className: 'note', role: 'status', tabIndex: -1 })
const report = (isBad, ...parts) => {
  status.className = isBad ? 'note bad' : 'note'
  status.replaceChildren(...parts)
}

const session = (one) => {
  const tick = made('input', { type: 'checkbox', value: one.id, checked: one.ticked === true })
  tick.addEventListener('change', () => { one.ticked = tick.checked })
  return card(one.title,
    made('label', {}, tick, made('strong', {}, one.title)),
    facts(kindOf(one), one.client, one.project, one.branch, date(one.at), one.expires_at && 'expires ' + date(one.expires_at), READERS[one.readers], ...(one.sources ?? [])),
    one.quote && made('blockquote', {}, one.quote),
    ...textOf(one, true),
  )
}

const draw = () => {
  const decide = (action, text, className) => button(text, () => settle(action), className)
  const all = waiting.length > 0 && waiting.every(({ ticked }) => ticked)
  main.replaceChildren(
    made('h1', {}, 'Review captured sessions'),
    made('p', { className: 'lead' }, waiting.length === 0 ? 'No captured sessions await review.' : 'Only you can find these sessions until you approve them. A session that is not approved expires.'),
    status,
    ...(waiting.length === 0 ? [] : [
      made('div', { className: 'actions bar' },
        decide('approve', 'Approve ticked', 'main'),
        decide('drop', 'Drop ticked', 'bad'),
        button(all ? 'Tick none' : 'Tick all', () => { for (const one of waiting) one.ticked = !all; draw() }),
      ),
      made('ul', { className: 'list' }, ...waiting.map(session)),
    ]),
    made('div', { className: 'actions bar' },
      next ? button('Show more', () => load(next)) : '',
      link('Review on the dashboard', '/review')),
  )
}

app.result = (result) => {
  waiting = result.waiting ?? []
  next = result.next
  draw()
}

/** Lists the sessions that wait now. @param after the cursor of a further page, which is added */
const load = async (after) => {
  try {
    const page = await callTool('review', after ? { ...asked, after } : asked)
    waiting = after ? [...waiting, ...page.waiting] : page.waiting
    next = page.next
    draw()
  } catch (error) {
    report(true, error.message)
  }
}

/** Approves or drops what is ticked. The client asks the person first, in a dialog of its own. */
const settle = async (action) => {
  const ticked = waiting.filter((one) => one.ticked)
  if (ticked.length === 0 || ticked.length > 20) {
    report(true, ticked.length === 0 ? 'Tick at least one session.' : 'Tick at most 20 sessions.')
    return status.focus()
  }
  const buttons = main.querySelectorAll('button')
  for (const one of buttons) one.disabled = true
  report(false, 'Answer the question of your client.')
  try {
    const sessions = ticked.map(({ id, version }) => ({ id, version }))
    const { change_id } = await callTool('review_decide', { action, sessions })
    const { after: _, ...first } = asked
    asked = first
    await load()
    report(false, (action === 'approve' ? 'Approved ' : 'Dropped ') + plural(ticked.length) + '. ', link('Undo on the dashboard', '/review?change=' + encodeURIComponent(change_id)))
  } catch (error) {
    for (const one of buttons) one.disabled = false
    report(true, error.message)
  }
  status.focus()
}
`
