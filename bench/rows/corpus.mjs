// The entries of the rows bench: short memories of 45 common words, so that three words of a query occur in nearly all of them.
import { random } from '../support/numbers.mjs'

const COMMON = `cache queue worker token login schema index retry batch stream parser lock timeout
  header cookie session route render layout query join trigger vector chunk merge branch
  deploy rollback metric alert budget limit page cursor offset tag filter`.split(/\s+/)
const THREADS = 200
const LENGTH = 45
/** A fifth of the entries belong to each project. */
export const PROJECTS = 5

const draw = (next) => COMMON[Math.floor(next() ** 2 * COMMON.length)]

/** Some of the words that nearly every entry contains. */
export const commonWords = (n, count) => {
  const next = random(7_919 * (n + 1))
  const words = new Set()
  while (words.size < count) words.add(draw(next))
  return [...words].join(' ')
}

/** A word of twenty entries. */
export const rareWord = (n, size) => `zebra${n % Math.max(1, Math.floor(size / 20))}x`

export function textAt(i, size) {
  const next = random(i + 1)
  return `${rareWord(i, size)} ${Array.from({ length: LENGTH - 2 }, () => draw(next)).join(' ')} number${i}`
}

export const projectOf = (n) => `project-${n % PROJECTS}`

/** The arguments of `store_context`. */
export const entryAt = (i, size) => ({
  thread_id: `thread ${i % THREADS}`,
  source: i % 3 === 0 ? 'user' : 'agent',
  text: textAt(i, size),
  tags: [`area-${i % 7}`, `team-${i % 40}`],
  metadata: { project: projectOf(i), status: ['todo', 'doing', 'done'][i % 3] },
})
