import type { Analyzer } from '../search/analysis'
import { codePointLength } from '../text'
import { MEMORY_TYPES, type MemoryType } from './memory'

/** The text that takes the place of old memories (fabric contract §8): what they say themselves, no model's words. */
export interface Original {
  readonly id: number
  readonly type: MemoryType
  readonly title: string | null
  /** Of the content, the beginning. */
  readonly text: string
  readonly weight: number
  readonly confidence: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** Code points that a token stands for. */
const TOKEN = 4
const LONGEST_LINE = 160
/** A shorter one says nothing by itself. */
const FEWEST_WORDS = 4

const ENDS = '.!?。！？'

/** The sentences of a text: they end at a mark before white space, or with their line. Linear. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  for (const line of text.split(/[\n\r]+/)) {
    let start = 0
    for (let i = 0; i < line.length; i++) {
      const ends = ENDS.includes(line[i] as string) && (i + 1 === line.length || /\s/.test(line[i + 1] as string))
      if (!ends) continue
      sentences.push(line.slice(start, i + 1).trim())
      start = i + 1
    }
    sentences.push(line.slice(start).trim())
  }
  return sentences.filter((sentence) => sentence !== '')
}

const shortened = (text: string): string => {
  const points = [...text]
  return points.length <= LONGEST_LINE ? text : `${points.slice(0, LONGEST_LINE - 1).join('')}…`
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** How many there are of each type, the most first. */
function countsOf(originals: readonly Original[]): [type: MemoryType, count: number][] {
  return MEMORY_TYPES.map((type): [MemoryType, number] => [type, originals.filter((one) => one.type === type).length])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
}

/** Types in turn; within a type by weight, confidence, and the newest first. */
function inTurn(originals: readonly Original[], types: readonly MemoryType[]): Original[] {
  const queues = types.map((type) =>
    originals
      .filter((one) => one.type === type)
      .sort((a, b) => b.weight - a.weight || b.confidence - a.confidence || b.createdAt - a.createdAt || b.id - a.id),
  )
  const ordered: Original[] = []
  for (let round = 0; ordered.length < originals.length; round++)
    for (const queue of queues) {
      const next = queue[round]
      if (next !== undefined) ordered.push(next)
    }
  return ordered
}

/** What the line of a memory says: its title, else its first sentence. */
const headOf = ({ title, text }: Original): string => shortened(title?.trim() || sentencesOf(text)[0] || text.trim())

interface Sentence {
  readonly line: string
  readonly score: number
}

/** The other sentences, those with the rarest words for their length first. */
function furtherSentences(originals: readonly Original[], analyzer: Analyzer): string[] {
  const wordsOf = (text: string): Set<string> => {
    const words = new Set<string>()
    for (const { term, isStopWord } of analyzer.tokens(text)) if (!isStopWord) words.add(term)
    return words
  }
  const holders = new Map<string, number>()
  for (const { text } of originals) for (const word of wordsOf(text)) holders.set(word, (holders.get(word) ?? 0) + 1)
  const idf = (word: string): number => {
    const count = holders.get(word) ?? 0
    return Math.log(1 + (originals.length - count + 0.5) / (count + 0.5))
  }
  const sentences: Sentence[] = []
  const told = new Set(originals.map(headOf))
  for (const { id, text } of originals)
    for (const sentence of sentencesOf(text)) {
      const words = [...wordsOf(sentence)]
      if (words.length < FEWEST_WORDS || told.has(shortened(sentence))) continue
      told.add(shortened(sentence))
      const length = sentence.split(/\s+/).length
      const score = words.reduce((sum, word) => sum + idf(word), 0) / length
      sentences.push({ line: `  ${shortened(sentence)} [#${id}]`, score })
    }
  return sentences.sort((a, b) => b.score - a.score).map(({ line }) => line)
}

/**
 * @param originals one at least, oldest first
 * @param targetTokens at four code points each; the text is cut at whole lines
 */
export function digestOf(originals: readonly Original[], targetTokens: number, analyzer: Analyzer): string {
  const counts = countsOf(originals)
  const times = originals.map(({ createdAt }) => createdAt)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const many = originals.length === 1 ? '1 memory' : `${originals.length} memories`
  const types = counts.map(([type, count]) => `${count} ${type}`).join(', ')
  const lines = [`Summary of ${many}, ${day(first)} to ${day(last)}: ${types}.`]
  let left = targetTokens * TOKEN - codePointLength(lines[0] as string)
  const add = (line: string, kept = 0): boolean => {
    const cost = codePointLength(line) + 1
    if (cost + kept > left) return false
    left -= cost
    lines.push(line)
    return true
  }
  const ordered = inTurn(
    originals,
    counts.map(([type]) => type),
  )
  const rest = (count: number): string => `… and ${count} more`
  for (const [i, original] of ordered.entries()) {
    const isLast = i === ordered.length - 1
    // What says how many are left out must always fit.
    const kept = isLast ? 0 : rest(ordered.length).length + 1
    if (add(`- ${original.type}: ${headOf(original)} [#${original.id}]`, kept)) continue
    add(rest(ordered.length - i))
    return lines.join('\n')
  }
  for (const line of furtherSentences(originals, analyzer)) add(line)
  return lines.join('\n')
}
