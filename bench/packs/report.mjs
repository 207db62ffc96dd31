// The gold set's record.
import { markdownTable, mean, percentile, short } from '../support/numbers.mjs'
import { judge, pairedInterval, totalTokens, withinTokens } from './judge.mjs'

const percent = (value) => (Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : '–')
const known = (values) => values.filter((value) => value !== null)
const TITLES = {
  development: 'Development, where rules are chosen',
  'held out': 'Held out at first',
  'last look': 'The last look',
}
/** Of a team whose goals are of several sorts. */
const SORTS = {
  resume: 'where was I, and what is next',
  small: 'small budgets: four to six items, or 300 to 600 tokens',
  languages: 'goals in another language than what answers them',
  private: "answers among the asker's private memories",
}
const HEAD = [
  ...['', 'required recall', 'nDCG', 'forbidden', 'outdated shown', 'not marked as such', 'duplicates', 'items'],
  'tokens a required item',
]
const FLAT = ['hybrid', 'words']
const PACKS = { 'pack of 12': 12, 'pack of 24': 24 }

/** Judges every search of a goal: packs, the flat searches of the same number, and of the same tokens. */
function judged({ goal, legs }, history, team) {
  const rows = {}
  for (const [name, size] of Object.entries(PACKS)) {
    rows[name] = judge(goal, legs[name], history, team)
    for (const flat of FLAT) {
      const answer = legs[flat]
      rows[`${flat}, ${size} items`] = judge(goal, { ...answer, items: answer.items.slice(0, size) }, history, team)
      rows[`${flat}, tokens of the ${name}`] = judge(goal, withinTokens(answer, totalTokens(legs[name])), history, team)
    }
  }
  return rows
}

function summary(rows) {
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0)
  const found = rows.reduce((sum, row) => sum + row.found, 0)
  const items = rows.reduce((sum, row) => sum + row.items, 0)
  return [
    percent(mean(known(rows.map(({ recall }) => recall)))),
    short(mean(known(rows.map(({ ndcg }) => ndcg)))),
    rows.reduce((sum, row) => sum + row.forbidden.length, 0),
    percent(mean(known(rows.map(({ stale }) => stale)))),
    percent(mean(known(rows.map(({ unmarked }) => unmarked)))),
    percent(rows.reduce((sum, row) => sum + row.duplicates, 0) / Math.max(items, 1)),
    short(items / rows.length),
    short(tokens / Math.max(found, 1)),
  ]
}

export function report({ answers, history, team, where }) {
  const all = answers.map((answer) => ({ ...answer, rows: judged(answer, history, team) }))
  const related = all.filter(({ goal }) => goal.required.length > 0)
  const unrelated = all.filter(({ goal }) => goal.required.length === 0)
  const names = Object.keys(related[0]?.rows ?? {})
  const sections = []
  for (const part of new Set(related.map(({ goal }) => goal.part))) {
    const of = related.filter(({ goal }) => goal.part === part)
    const table = names.map((name) => [name, ...summary(of.map(({ rows }) => rows[name]))])
    sections.push(`### ${TITLES[part]}: ${of.length} goals\n`, markdownTable(HEAD, table), '')
    for (const name of Object.keys(PACKS)) {
      const facet = mean(known(of.map(({ rows }) => rows[name].facet)))
      const opening = mean(known(of.map(({ rows }) => rows[name].opening)))
      sections.push(
        `* ${name}: the answer is in its facet ${percent(facet)}, the first section is right ${percent(opening)}.`,
      )
      for (const flat of FLAT) {
        const differences = of.map(({ rows }) => rows[name].recall - rows[`${flat}, tokens of the ${name}`].recall)
        const { mean: by, low, high } = pairedInterval(differences)
        const points = [by, low, high].map((value) => `${value >= 0 ? '+' : '−'}${Math.abs(100 * value).toFixed(1)}`)
        sections.push(
          `  Over ${flat} at equal tokens: ${points[0]} points (90 % interval ${points[1]} to ${points[2]}).`,
        )
      }
    }
    sections.push('')
    const sorts = new Set(of.flatMap(({ goal }) => goal.sort ?? []))
    if (sorts.size > 0) {
      const rows = [...sorts].map((sort) => {
        const some = of.filter(({ goal }) => goal.sort === sort)
        const recallOf = (name) => percent(mean(known(some.map(({ rows: by }) => by[name].recall))))
        return [SORTS[sort] ?? sort, some.length, ...['pack of 12', 'pack of 24', 'hybrid, 12 items'].map(recallOf)]
      })
      sections.push(
        markdownTable(['required recall by sort', 'goals', 'pack of 12', 'pack of 24', 'hybrid, 12 items'], rows),
        '',
      )
    }
  }
  const counts = (name) => unrelated.map(({ rows }) => rows[name].items)
  const relevant = (name) =>
    unrelated.map(({ legs }) => legs[name].items.filter(({ facet }) => facet !== 'active_work').length)
  sections.push(
    `### ${unrelated.length} goals that have nothing to do with the history\n`,
    ...Object.keys(PACKS).map(
      (name) =>
        `* ${name}: ${short(mean(counts(name)))} items, ${short(mean(relevant(name)))} of them not work in flight; ` +
        `empty of others ${percent(mean(relevant(name).map((n) => Number(n === 0))))}.`,
    ),
    ...FLAT.map((name) => `* ${name}, 24 items: ${short(mean(counts(`${name}, 24 items`)))}.`),
    '',
    '### Milliseconds of a call\n',
    markdownTable(
      ['', 'p50', 'p95'],
      [...Object.keys(PACKS), ...FLAT].map((name) => {
        const ms = all.map(({ legs }) => legs[name].ms)
        return [name, short(percentile(ms, 0.5)), short(percentile(ms, 0.95))]
      }),
    ),
  )
  const stored = `${history.length} memories, ${answers.length} goals (${unrelated.length} of them unrelated)`
  return `## Packs: the ${team.name}\n\n${where}\n\n${stored}; vectors of \`local\`. Tokens are characters of names and contents by four.\n\n${sections.join('\n')}`
}

/** Lists misses, errors and first sections of a search, goal by goal. */
export function listMisses(answers, history, team, leg) {
  return answers
    .map(({ goal, legs }) => ({ goal, row: judge(goal, legs[leg], history, team), sections: legs[leg].sections }))
    .filter(
      ({ goal, row }) =>
        row.missing.length > 0 ||
        row.forbidden.length > 0 ||
        row.facet === 0 ||
        row.opening === 0 ||
        row.stale ||
        (goal.required.length === 0 && row.items > 0),
    )
    .map(({ goal, row, sections }) =>
      [
        `${goal.id} [${goal.part}] ${goal.intent}: ${goal.goal.slice(0, 80)}`,
        row.missing.length > 0 ? `missing ${row.missing}` : '',
        row.forbidden.length > 0 ? `FORBIDDEN ${row.forbidden}` : '',
        row.stale ? 'stale' : '',
        row.facet === 0 ? `not in ${goal.facet}` : '',
        row.opening === 0 ? `begins with ${sections[0]}` : '',
        goal.required.length === 0 ? `${row.items} items` : '',
      ]
        .filter(Boolean)
        .join(' | '),
    )
    .join('\n')
}
