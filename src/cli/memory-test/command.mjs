// `commonplace test FILE`: asks the questions of a file, and checks which memories the server returns.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '../bundle.mjs'
import { askCore } from '../memory/commands.mjs'
import { ask, fail, shown } from '../server.mjs'
import { paint } from '../terminal.mjs'

/** @typedef {import('./test-file').MemoryTest} MemoryTest */
/** @typedef {import('./test-file').NamedMemory} NamedMemory */
/** @typedef {{ name: string, line: number, ms: number, failures: string[], error: string | null, pins: import('./test-file').Pin[] }} Outcome */

const USUAL = 'memory.test.yaml'
/** IDs that one `fetch` accepts. */
const FETCHED = 100

/** Memories of an answer, in its order. */
const memoriesIn = ({ results = [], sections = [] }) => [...results, ...sections.flatMap(({ memories }) => memories)]

const plain = (text) => String(text).trim().replace(/\s+/g, ' ').toLowerCase()

/** @param {NamedMemory} named */
const isIt = (named) => (memory) =>
  named.id === undefined ? plain(memory.title) === plain(named.title) : memory.id === named.id

/** @param {NamedMemory} named */
const nameOf = ({ id, title }) => (id === undefined ? `"${title}"` : `memory ${id}`)

/**
 * Explains why a memory was not returned, where its ID is known.
 *
 * @param {string} url @param {MemoryTest} test @param {NamedMemory} named
 */
async function reasonOf(url, { tool, args }, { id }) {
  if (id === undefined) return ''
  const { goal, query, kind, tags, captured: _, ...others } = /** @type {Record<string, any>} */ (args)
  const lists = { kind: kind?.join(','), tags: tags?.join(',') }
  const given = Object.entries({ ...others, ...lists, id, tool, query: goal ?? query }).filter(([, value]) => value)
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  const { causes = [] } = await ask(url, 'GET', `/orgs/-/why?${parameters}`).catch(() => ({}))
  return causes.length === 0 ? '' : ` (${causes[0].cause.replaceAll('_', ' ')}: ${causes[0].message})`
}

/** Complete texts of memories by their IDs. @param {string} url @param {number[]} ids */
async function textsOf(url, ids) {
  const texts = new Map()
  for (let from = 0; from < ids.length; from += FETCHED) {
    const { memories } = await askCore(url, 'fetch', { ids: ids.slice(from, from + FETCHED), max_tokens: 32_000 })
    for (const { id, content, total_chars: total } of memories) if (total === undefined) texts.set(id, content)
  }
  return texts
}

/**
 * Runs one test. The call of a test that fails as a whole is an error.
 *
 * @param {string} url @param {MemoryTest} test @param {number} place of the test in its file @param {boolean} pins
 * @returns {Promise<Outcome>}
 */
async function runTest(url, test, place, pins) {
  const began = performance.now()
  const { name, line, tool, args, must, mustNot } = test
  /** @type {Outcome} */
  const outcome = { name, line, ms: 0, failures: [], error: null, pins: [] }
  try {
    const returned = memoriesIn(await askCore(url, tool, args))
    const found = must.map((named) => returned.findIndex(isIt(named)))
    const read = must.flatMap(({ contains, sha256 }, i) => {
      const memory = returned[/** @type {number} */ (found[i])]
      return memory !== undefined && (pins || contains !== undefined || sha256 !== undefined) ? [memory.id] : []
    })
    const texts = read.length === 0 ? new Map() : await textsOf(url, [...new Set(read)])
    for (const [i, named] of must.entries()) {
      const at = /** @type {number} */ (found[i])
      if (at < 0) {
        outcome.failures.push(`${nameOf(named)} was not returned${await reasonOf(url, test, named)}`)
        continue
      }
      const { id, replaced_by: newer } = returned[at]
      // Agents read it as outdated.
      if (newer !== undefined) outcome.failures.push(`${nameOf(named)} is replaced by ${[newer].flat().join(', ')}`)
      const text = texts.get(id)
      const sha256 = text === undefined ? '' : createHash('sha256').update(text).digest('hex')
      if (pins && text !== undefined) outcome.pins.push({ test: place, memory: i, place: at + 1, sha256 })
      outcome.failures.push(...problemsOf(named, at + 1, text, sha256))
    }
    for (const named of mustNot) {
      const at = returned.findIndex(isIt(named))
      if (at >= 0) outcome.failures.push(`${nameOf(named)} was returned, as number ${at + 1}`)
    }
  } catch (error) {
    outcome.error = /** @type {Error} */ (error).message
  }
  return { ...outcome, ms: Math.round(performance.now() - began) }
}

/** @param {NamedMemory} named @param {number} place @param {string | undefined} text @param {string} sha256 */
function problemsOf(named, place, text, sha256) {
  const { within, contains, sha256: wanted } = named
  const isRead = contains !== undefined || wanted !== undefined
  if (isRead && text === undefined) return [`${nameOf(named)} is too long to be compared; remove contains and sha256`]
  return [
    ...(within !== undefined && place > within ? [`${nameOf(named)} is number ${place}, not within ${within}`] : []),
    ...(contains !== undefined && !plain(text).includes(plain(contains))
      ? [`${nameOf(named)} no longer contains "${contains}"`]
      : []),
    ...(wanted !== undefined && !sha256.startsWith(wanted)
      ? [`the text of ${nameOf(named)} has changed: sha256 is ${sha256.slice(0, wanted.length)}, not ${wanted}`]
      : []),
  ]
}

// Characters that XML 1.0 cannot hold are removed.
const xml = (text) =>
  String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')

/** The outcomes as JUnit XML, as CI systems read it. @param {string} file @param {readonly Outcome[]} outcomes */
export function junitOf(file, outcomes) {
  const seconds = (ms) => (ms / 1000).toFixed(3)
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length
  const broken = outcomes.filter(({ error }) => error !== null).length
  const counts = `tests="${outcomes.length}" failures="${failed}" errors="${broken}" time="${seconds(outcomes.reduce((sum, { ms }) => sum + ms, 0))}"`
  const cases = outcomes.map(({ name, line, ms, failures, error }) => {
    const inside =
      error !== null
        ? `<error message="${xml(error)}"/>`
        : failures.length > 0
          ? `<failure message="${xml(failures[0])}">${xml(failures.join('\n'))}</failure>`
          : ''
    const head = `testcase name="${xml(name)}" classname="${xml(basename(file))}" file="${xml(file)}" line="${line}" time="${seconds(ms)}"`
    return inside === '' ? `    <${head}/>` : `    <${head}>${inside}</testcase>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(basename(file))}" ${counts}>\n${cases.join('\n')}\n  </testsuite>\n</testsuites>\n`
}

/**
 * Runs the tests of a file. The exit code is 1 if one fails, 2 if the file is wrong.
 *
 * @param {{ url: string, json?: boolean, junit?: string, pin?: boolean }} options
 * @param {string | undefined} word the file
 * @param {(problem: string) => never} usage
 */
export async function test(options, word, usage) {
  const { url, json, junit, pin = false } = options
  const file = word ?? USUAL
  const library = await bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))
  if (!existsSync(file)) usage(`${file} does not exist. docs/memory-tests.md shows how to write it.`)
  const text = readFileSync(file, 'utf8')
  /** @type {MemoryTest[]} */
  let tests = []
  try {
    tests = library.readTests(text)
  } catch (error) {
    if (!(error instanceof library.FileProblem)) throw error
    usage(`${file}: ${error.message}`)
  }
  /** @type {Outcome[]} */
  const outcomes = []
  for (const [place, one] of tests.entries()) {
    const outcome = await runTest(url, one, place, pin)
    outcomes.push(outcome)
    if (!json) print(outcome)
  }
  const bad = outcomes.filter(({ failures, error }) => failures.length > 0 || error !== null)
  if (junit !== undefined) writeFileSync(junit, junitOf(file, outcomes))
  if (json) {
    const tests = outcomes.map(({ pins: _, ...own }) => own)
    console.log(JSON.stringify({ file, passed: outcomes.length - bad.length, failed: bad.length, tests }, null, 2))
  } else console.log(`\n${outcomes.length - bad.length} of ${outcomes.length} passed`)
  if (pin) {
    const missing = outcomes.flatMap(({ failures, error }) => [...failures, ...(error === null ? [] : [error])])
    if (missing.some((problem) => / was (not )?returned/.test(problem)) || outcomes.some(({ error }) => error !== null))
      fail('Nothing was pinned: first correct the tests that return other memories.')
    const pins = outcomes.flatMap((outcome) => outcome.pins)
    writeFileSync(file, library.pinned(text, pins))
    if (!json) console.log(`Pinned ${pins.length === 1 ? '1 memory' : `${pins.length} memories`} in ${file}.`)
    return
  }
  if (bad.length > 0) process.exitCode = 1
}

/** @param {Outcome} outcome */
function print({ name, failures, error, ms }) {
  const isGood = failures.length === 0 && error === null
  const mark = isGood ? paint('green', '✓') : paint('red', '✗')
  console.log(`${mark} ${shown(name)} ${paint('dim', `${ms} ms`)}`)
  for (const problem of error === null ? failures : [error]) console.log(`    ${shown(problem)}`)
}
