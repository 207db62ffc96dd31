// The table of one suite, for the record.
import { BASELINE } from '../../retrieval/legs.mjs'
import { markdownTable, mean } from '../../support/numbers.mjs'
import { pairedBootstrap } from './bootstrap.mjs'
import { MEASURES } from './strict.mjs'

const PAIRED = ['all@10', 'R@10', 'any@10', 'mrr']

const percent = (value) => (100 * value).toFixed(1)

const unique = (values) => [...new Set(values)]

function rows(receipts) {
  const kinds = unique(receipts.map(({ kind }) => kind)).sort()
  const legs = unique(receipts.map(({ leg }) => leg))
  return [...(kinds.length > 1 ? kinds : []), 'all'].flatMap((kind) =>
    legs.map((leg) => {
      const own = receipts.filter((receipt) => receipt.leg === leg && (kind === 'all' || receipt.kind === kind))
      return [kind, leg, own.length, ...MEASURES.map((name) => percent(mean(own.map(({ scores }) => scores[name]))))]
    }),
  )
}

/** Compares one leg with another on the same questions; losses are shown like gains. */
function pairs(title, ours, theirs) {
  const byCase = new Map(theirs.map((receipt) => [receipt.case, receipt.scores]))
  const both = ours.filter(({ case: id }) => byCase.has(id))
  return PAIRED.map((name) => {
    const { difference, low, high } = pairedBootstrap(
      both.map(({ scores }) => scores[name]),
      both.map(({ case: id }) => byCase.get(id)[name]),
    )
    const verdict = low > 0 ? 'better' : high < 0 ? 'worse' : 'not told apart'
    return [title, name, both.length, percent(difference), `${percent(low)} to ${percent(high)}`, verdict]
  })
}

/**
 * @param {{ name: string, suite: import('../suites.mjs').Suite, where: string, refused: number, leftOut: Record<string, number>,
 *   documents: number, target: string }} facts
 * @param {readonly import('./receipts.mjs').Receipt[]} receipts
 * @param {readonly import('./receipts.mjs').Receipt[] | null} before
 * @returns {string} Markdown
 */
export function suiteReport(facts, receipts, before) {
  const of = (leg, list = receipts) => list.filter((receipt) => receipt.leg === leg)
  const legs = unique(receipts.map(({ leg }) => leg))
  const compared = [
    ...legs.filter((leg) => leg !== 'hybrid').flatMap((leg) => pairs(`hybrid − ${leg}`, of('hybrid'), of(leg))),
    ...(before === null ? [] : legs.flatMap((leg) => pairs(`${leg}, now − before`, of(leg), of(leg, before)))),
  ]
  const left = Object.entries(facts.leftOut).filter(([, count]) => count > 0)
  return [
    `## ${facts.name}`,
    '',
    `${facts.where}. Database: ${facts.target}; embedder: local.`,
    '',
    `Documents: ${facts.documents} (${facts.suite.unit}; ${facts.refused} refused). Each question is asked within its own conversation, 100
results. Left out: ${left.map(([why, count]) => `${count} ${why}`).join(', ') || 'nothing'}. Licence of the data: ${facts.suite.licence}.
\`all@k\` is strict (every turn that the question needs among the first k), \`R@k\` their share, \`any@k\` one of them. \`${BASELINE}\` is SQLite
alone: every word joined with OR, \`bm25()\`. All in per cent.`,
    '',
    markdownTable(['kind', 'leg', 'questions', ...MEASURES], rows(receipts)),
    '',
    'Paired bootstrap over questions (2,000 draws, 95 %), in points:',
    '',
    markdownTable(['pair', 'measure', 'questions', 'difference', 'bounds', 'verdict'], compared),
  ].join('\n')
}
