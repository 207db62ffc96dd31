// What recall by words should find, in plain code: fabric.md §4 and threads.md §6.4 word for word, over every document that holds a
// unit, without an engine or any of the Worker's own ranking. Of the Worker it takes what a word is, nothing else.
import { fileURLToPath } from 'node:url'
import { bundled } from '../../src/cli/copy/bundle.mjs'

const analysis = fileURLToPath(new URL('../../src/domain/search/analysis.ts', import.meta.url).href)
/** Entries that are candidates, which a leg keeps. */
const CANDIDATES = 200
/** Code points of a text that are scored; all of it is found. */
const SCORED = 8000

/** Words, adjacencies and quoted phrases of a question, each once, without stop words while anything else remains. */
function unitsOf(analyzer, question) {
  const found = []
  const pieces = question.split('"')
  for (const [i, piece] of pieces.entries()) {
    const quoted = i % 2 === 1 && (pieces.length % 2 === 1 || i < pieces.length - 1)
    for (const given of quoted ? [piece] : piece.split(/\s+/)) {
      let words = analyzer.tokenize(given)
      const content = words.map(({ isStopWord }) => !isStopWord)
      if (!quoted && content.includes(true)) words = words.slice(content.indexOf(true), content.lastIndexOf(true) + 1)
      if (words.length > 0) found.push({ words, stop: !content.includes(true) && !(quoted && words.length > 1) })
    }
  }
  const kept = found.some(({ stop }) => !stop) ? found.filter(({ stop }) => !stop) : found
  const units = new Map(kept.map(({ words }) => [words.map(({ term }) => term).join(' '), words]))
  return [...units].slice(0, 64).map(([text, words]) => ({ text, words }))
}

/**
 * @param {import('./collection.mjs').Collection} collection
 * @param {ReadonlyMap<string, number>} unitOf entry by document
 * @returns {Promise<(query: {text: string, thread: string}, all?: boolean) => number[]>} ids of entries, best first; a neighbour counts
 *   when it is a candidate: one of the best 200, by units held and how rare those are (threads.md §6.1), or any that holds a unit (`all`)
 */
export async function plainRecall({ documents, threaded }, unitOf) {
  const { createAnalyzer } = await bundled(analysis)
  const analyzer = createAnalyzer('english')
  const places = new Map()
  const seen = new Set()
  for (const { id, thread, text } of documents) {
    const entry = unitOf.get(id)
    if (entry === undefined || seen.has(entry)) continue
    seen.add(entry)
    const tokens = analyzer.tokenize(text)
    const scored = new Map()
    for (const { term } of analyzer.tokenize([...text].slice(0, SCORED).join('')))
      scored.set(term, (scored.get(term) ?? 0) + 1)
    const place = places.get(threaded ? thread : '') ?? []
    places.set(threaded ? thread : '', place)
    place.push({
      ...{ id: entry, thread, scored },
      words: new Set(tokens.map(({ term }) => term)),
      text: ` ${tokens.map(({ term }) => term).join(' ')} `,
      length: tokens.filter(({ isStopWord }) => !isStopWord).length,
    })
  }
  const threads = Map.groupBy([...places.values()].flat(), ({ thread }) => thread)
  for (const thread of threads.values()) thread.sort((a, b) => a.id - b.id)

  return ({ text, thread }, all = false) => {
    const place = places.get(threaded ? thread : '') ?? []
    const units = unitsOf(analyzer, text)
    const words = new Map(units.flatMap(({ words }) => words.map((word) => [word.term, word.isStopWord])))
    const content = [...words].filter(([, stop]) => !stop)
    const terms = (content.length > 0 ? content : [...words]).map(([term]) => term)
    const average = place.reduce((sum, { length }) => sum + length, 0) / place.length
    const rarity = terms.map((term) => {
      const entries = Math.max(1, place.filter(({ words }) => words.has(term)).length)
      return {
        ...{ term, idf: Math.log(1 + (place.length - entries + 0.5) / (entries + 0.5)) },
        share: entries / Math.max(1, place.length * average),
      }
    })
    const found = []
    for (const document of place) {
      const held = units.map(({ text: unit }) => document.text.includes(` ${unit} `))
      if (!held.includes(true)) continue
      let own = 0
      for (const { term, idf, share } of rarity) {
        const times = document.scored.get(term) ?? 0
        const saturation = times + 1.2 * (0.25 + (0.75 * document.length) / average)
        if (times > 0) own += Math.log(1 + times / (50 * share)) + (idf * times * 2.2) / saturation
      }
      found.push({ document, has: held, held: held.filter((has) => has).length, own })
    }
    const counts = units.map((_, i) => found.filter(({ has }) => has[i]).length)
    const rare = counts.map((count) => Math.log(1 + (10 * Math.max(...counts)) / count))
    const weight = ({ document, has }) =>
      rare.reduce((sum, one, i) => sum + (has[i] ? one : 0), 0) * (1 + 2.2 / (1.3 + document.length / 55))
    const best = found.sort((a, b) => b.held - a.held || weight(b) - weight(a) || b.document.id - a.document.id)
    const candidates = new Map(best.slice(0, all ? best.length : CANDIDATES).map((one) => [one.document.id, one]))
    const similarity = ({ document, held, own }) => {
      const neighbours = threads.get(document.thread) ?? []
      const at = neighbours.indexOf(document)
      let x = own + terms.length * Math.log(50 / (document.length + 50))
      for (const [distance, share] of [0.2, 0.04].entries())
        for (const other of [neighbours[at - distance - 1], neighbours[at + distance + 1]])
          x += share * (candidates.get(other?.id)?.own ?? 0)
      if (units.length > 3 && held === units.length) x += 2
      const score = x > 30 ? x : Math.log1p(Math.exp(x))
      return 0.8 * (held / units.length) + 0.2 * (score / (score + 1))
    }
    return [...candidates.values()]
      .map((candidate) => ({ id: candidate.document.id, similarity: similarity(candidate) }))
      .sort((a, b) => b.similarity - a.similarity || b.id - a.id)
      .map(({ id }) => id)
  }
}
