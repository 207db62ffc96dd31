/** Shows the result of `context`: memories by section, why each is there, and how many were left out. */
export const PACK_SCRIPT = `
let asked = {}
app.input = (args) => { asked = args }

const references = (label, ids) =>
  ids?.length > 0 ? [made('p', { className: 'why' }, label, ...ids.flatMap((id, i) => [i === 0 ? ' ' : ', ', link('memory ' + id, '/entries/' + id)]))] : []

const memory = (one) => {
  const title = one.title ?? 'Memory ' + one.id
  return card(title,
    made('h3', {}, title),
    facts(kindOf(one), one.project, one.status, one.by, one.at && date(one.at), one.captured && 'awaits your approval', one.approved && 'approved by a person', one.imported && 'imported'),
    one.why && made('p', { className: 'why' }, 'Why: ' + one.why),
    one.note && made('p', { className: 'why' }, one.note),
    ...references('Replaces', one.replaces),
    ...references('Contradicts', one.conflicts_with),
    ...references('Later on the same subject:', one.later ? [one.later] : []),
    ...textOf(one),
  )
}

const section = ({ title, memories }) => [made('h2', {}, title), made('ul', { className: 'list' }, ...memories.map(memory))]

/** More of the same pack: the limits of the tool are raised. */
const more = (status) => button('Show more', async (self) => {
  self.disabled = true
  status.textContent = 'Loading…'
  try {
    app.result(await callTool('context', { ...asked, limit: 50, max_tokens: 16000 }))
    main.querySelector('h1').focus()
  } catch (error) {
    self.disabled = false
    status.textContent = error.message
  }
})

app.result = ({ sections = [], where_you_left_off: last, hint, omitted, superseded, warnings = [], projects = [] }) => {
  const goal = (asked.goal ?? '').trim()
  const status = made('span', { className: 'hint', role: 'status' })
  const count = sections.reduce((sum, { memories }) => sum + memories.length, 0)
  const left = [
    omitted && made('div', { className: 'actions' }, omitted.split('. ')[0] + '.', more(status), status),
    superseded && made('p', { className: 'lead' }, superseded === 1 ? '1 memory was replaced by a newer one.' : superseded + ' memories were replaced by newer ones.'),
  ].filter(Boolean)
  main.replaceChildren(
    made('h1', { tabIndex: -1 }, goal || 'Start of a session'),
    made('p', { className: 'lead' }, (count === 1 ? '1 memory' : count + ' memories') + (asked.project ? ' for ' + asked.project : '')),
    ...warnings.map((text) => made('p', { className: 'note' }, text)),
    ...sections.flatMap(section),
    ...(last ? section({ title: 'Where you left off', memories: [{ title: 'Newest session', ...last }] }) : []),
    ...(left.length > 0 ? [made('h2', {}, 'Left out'), ...left] : []),
    ...(projects.length > 0 ? [made('h2', {}, 'Projects'), made('p', { className: 'lead' }, projects.join(', '))] : []),
    // Other hints are for the model.
    /^No/.test(hint ?? '') ? made('p', { className: 'note' }, hint) : '',
  )
}
`
