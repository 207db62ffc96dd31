// `npm run bench -- sources`: replays 300 commits of public repositories, and checks citations of their lines after each commit.
// The truth is what `git diff` reports about the cited lines, never an answer of the comparison. See README.md.
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundled } from '../src/cli/bundle.mjs'
import { comparisonWith } from '../src/cli/check/compare.mjs'
import { successorsOf } from '../src/cli/check/tree.mjs'
import { gitIn } from '../src/cli/git.mjs'

const { values } = parseArgs({
  options: {
    repository: { type: 'string', multiple: true },
    data: { type: 'string', default: '.' },
    commits: { type: 'string', default: '300' },
    citations: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    wrong: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const REPOSITORIES = values.repository ?? ['honojs/hono', 'pallets/flask', 'gin-gonic/gin']
const COMMITS = Number(values.commits)
const CITATIONS = Number(values.citations)
/** @typedef {{ path: string, from: number, to: number }} Place */
/** @typedef {{ from: number, count: number, to: number, added: number }} Shift */
/** @typedef {Shift & { removed: { line: number, isMoved: boolean, isBlank: boolean }[], before: string[], after: string[] }} Hunk */
/** @typedef {{ fate: 'unchanged', next: Place } | { fate: 'changed' | 'moved' | 'slid', next?: never }} Fate */

const SOURCE = /\.(?:ts|tsx|js|mjs|py|go|md|rst|toml|yml|yaml|json|html|css|txt)$/

/** Numbers from 0 to 1 that follow from the seed. */
function randomOf(seed) {
  let state = Number.parseInt(createHash('sha256').update(seed).digest('hex').slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Chooses passages of 3 to 15 lines of source and documentation, at random by line, none of blank lines alone. */
function citationsAt(git, commit, random) {
  const paths = (git('ls-tree', '-r', '--name-only', commit) ?? '')
    .split('\n')
    .filter((path) => SOURCE.test(path) && !/(?:^|\/)(?:package-lock\.json|yarn\.lock|bun\.lock)$/.test(path))
  const files = paths.flatMap((path) => {
    const text = git('show', `${commit}:${path}`) ?? ''
    return text === '' || text.includes('\0') ? [] : [{ path, lines: text.replace(/\n$/, '').split('\n') }]
  })
  const total = files.reduce((sum, { lines }) => sum + lines.length, 0)
  const citations = []
  const known = new Set()
  while (citations.length < CITATIONS) {
    let at = Math.floor(random() * total)
    const file = files.find(({ lines }) => {
      at -= lines.length
      return at < 0
    })
    const size = 3 + Math.floor(random() * 13)
    const from = at + file.lines.length + 1
    const to = from + size - 1
    const place = `${file.path}:${from}-${to}`
    if (to > file.lines.length || known.has(place)) continue
    if (file.lines.slice(from - 1, to).every((line) => line.trim() === '')) continue
    known.add(place)
    const nonBlank = file.lines.slice(from - 1, to).filter((line) => line.trim() !== '').length
    citations.push({ path: file.path, lines: `${from}-${to}`, nonBlank })
  }
  return citations
}

const MOVED = '\u001b[1;35m'
const REMOVED = '\u001b[31m'

/**
 * The changes of one commit, as git reports them: renames, and by file the hunks with their removed lines.
 *
 * `--color-moved` marks removed blocks that the same commit adds elsewhere. White space does not count.
 */
function diffOf(git, parent, commit) {
  const renames = new Map()
  const deleted = new Set()
  for (const row of (git('diff', '--find-renames', '--name-status', parent, commit) ?? '').split('\n')) {
    const [kind = '', from = '', to = ''] = row.split('\t')
    if (kind.startsWith('R')) renames.set(from, to)
    if (kind === 'D') deleted.add(from)
  }
  const text = git(
    ...['-c', 'color.diff.oldMoved=bold magenta', '-c', 'color.diff.old=red', 'diff', '--color=always'],
    ...['--color-moved=blocks', '--color-moved-ws=ignore-all-space', '--find-renames', '-w', '--ignore-blank-lines'],
    ...['-U0', parent, commit],
  )
  /** @type {Map<string, Hunk[]>} */
  const hunks = new Map()
  let [path, line] = ['', 0]
  for (const raw of (text ?? '').split('\n')) {
    const plain = raw.replace(/\u001b\[[\d;]*m/g, '')
    if (plain.startsWith('--- ')) path = plain.slice(6)
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(plain)
    if (header !== null) {
      const [, from, count = '1', to, added = '1'] = header
      line = Number(from)
      const own = hunks.get(path) ?? []
      own.push({
        from: Number(from),
        count: Number(count),
        to: Number(to),
        added: Number(added),
        removed: [],
        before: [],
        after: [],
      })
      hunks.set(path, own)
    } else if (plain.startsWith('-') && !plain.startsWith('--- ')) {
      const isMoved = raw.includes(MOVED) || !raw.includes(REMOVED)
      const hunk = hunks.get(path)?.at(-1)
      hunk?.removed.push({ line: line++, isMoved, isBlank: plain.slice(1).trim() === '' })
      hunk?.before.push(plain.slice(1).replace(/\s+/g, ''))
    } else if (plain.startsWith('+') && !plain.startsWith('+++ ')) {
      hunks.get(path)?.at(-1)?.after.push(plain.slice(1).replace(/\s+/g, ''))
    }
  }
  const oldLines = (file) => (git('show', `${parent}:${file}`) ?? '').split('\n').map((row) => row.replace(/\s+/g, ''))
  // A formatter that joins or breaks lines changes white space alone.
  for (const [file, own] of hunks)
    hunks.set(
      file,
      own.filter(({ before, after }) => before.join('') !== after.join('')),
    )
  return { renames, deleted, hunks, shifts: shiftsOf(git, parent, commit), oldLines }
}

/** Every hunk by file, also of white space, to follow line numbers. */
function shiftsOf(git, parent, commit) {
  /** @type {Map<string, Shift[]>} */
  const shifts = new Map()
  let path = ''
  for (const line of (git('diff', '--find-renames', '-U0', parent, commit) ?? '').split('\n')) {
    if (line.startsWith('--- ')) path = line.slice(6)
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (header === null) continue
    const [from, count, to, added] = header.slice(1).map((text) => Number(text ?? 1))
    shifts.set(path, [...(shifts.get(path) ?? []), { from, count, to, added }])
  }
  return shifts
}

/** The number of a line after the hunks of its file. A line that a hunk replaces gets the same place in it. */
function lineAfter(line, hunks) {
  let shift = 0
  for (const { from, count, to, added } of hunks) {
    const end = count === 0 ? from : from + count - 1
    if (line > end) shift += added - count
    else if (count > 0 && line >= from) return to + Math.min(line - from, Math.max(0, added - 1))
  }
  return line + shift
}

const isSame = (a, b) => a.length === b.length && a.every((line, i) => line === b[i])

/**
 * Whether git could report a hunk outside the cited lines too, because the lines that it adds or removes repeat those next to it.
 *
 * For instance a new function before the cited one may be reported behind the closing bracket of the function before it.
 *
 * @param {Hunk} hunk @param {{ from: number, to: number }} cited @param {string[]} old the lines of the file before the commit, without white space
 */
function canSlideOut({ from: start, count, added, before, after }, { from, to }, old) {
  const part = (first, length) => old.slice(first - 1, first - 1 + length)
  if (count === 0) {
    const [above, below] = [start - from + 1, to - start]
    return (
      (above <= added && isSame(after.slice(added - above), part(from, above))) ||
      (below <= added && isSame(after.slice(0, below), part(start + 1, below)))
    )
  }
  if (added > 0) return false
  const [above, below] = [start + count - from, to - start + 1]
  return (
    (start < from && start > above && isSame(before.slice(count - above), part(start - above, above))) ||
    (start + count - 1 > to && isSame(before.slice(0, below), part(start + count, below)))
  )
}

/**
 * Applies a commit to a tracked citation.
 *
 * @param {Place} place @param {number} nonBlank its lines that are not blank @param {ReturnType<typeof diffOf>} diff
 * @returns {Fate} with its new place if it is unchanged
 */
function tracked({ path, from, to }, nonBlank, { renames, deleted, hunks, shifts, oldLines }) {
  const own = hunks.get(path) ?? []
  const every = shifts.get(path) ?? []
  const touched = own.filter(({ from: start, count }) =>
    count === 0 ? start >= from && start < to : start + count - 1 >= from && start <= to,
  )
  if (touched.length === 1 && canSlideOut(touched[0], { from, to }, oldLines(path))) return { fate: 'slid' }
  const next = { path: renames.get(path) ?? path, from: lineAfter(from, every), to: lineAfter(to, every) }
  if (touched.length === 0) return deleted.has(path) ? { fate: 'changed' } : { fate: 'unchanged', next }
  const removed = touched
    .flatMap((hunk) => hunk.removed)
    .filter(({ line, isBlank }) => line >= from && line <= to && !isBlank)
  // Every cited line was removed here and added elsewhere by the same commit.
  const isWhole = removed.length === nonBlank && removed.every(({ isMoved }) => isMoved)
  return { fate: isWhole ? 'moved' : 'changed' }
}

/** Replays one repository. */
async function replay(library, name) {
  const folder = join(values.data, name.slice(name.indexOf('/') + 1))
  if (!existsSync(folder)) throw new Error(`${folder} does not exist: git clone https://github.com/${name} ${folder}`)
  const git = gitIn(folder)
  const log = (git('log', '--first-parent', '--format=%H', `-${COMMITS + 1}`) ?? '').trim().split('\n').reverse()
  const [start = '', ...commits] = log
  const citations = citationsAt(git, start, randomOf(`${values.seed} ${name}`))
  const states = citations.map(({ path, lines, nonBlank }) => {
    const [from = 0, to = 0] = lines.split('-').map(Number)
    return {
      nonBlank,
      first: `${path}:${lines}`,
      citation: /** @type {import('../src/domain/entry/citation').Citation} */ ({ path, lines }),
      truth: { path, from, to },
      fate: /** @type {Fate['fate']} */ ('unchanged'),
      wrong: /** @type {string | null} */ (null),
      drift: /** @type {string | null} */ (null),
    }
  })
  const treeOf = (commit) => ({
    textOf(path) {
      const text = git('show', `${commit}:${path}`)
      return text === null || text.includes('\0') ? null : text
    },
    textAt: (at, path) => git('show', `${at}:${path}`),
    successors: (path) => successorsOf(git, path, commit),
    changedAt: () => '2026-11-28',
  })
  const first = comparisonWith(library, treeOf(start))
  for (const state of states) state.citation = first(state.citation).after
  const counts = {
    changed: 0,
    marked: 0,
    unchanged: 0,
    falsely: 0,
    moved: 0,
    movedMarked: 0,
    ambiguous: 0,
    misplaced: 0,
    checks: 0,
  }
  let before = start
  for (const commit of commits) {
    const open = states.filter(({ fate, wrong }) => fate === 'unchanged' && wrong === null)
    const diff = diffOf(git, before, commit)
    const compare = comparisonWith(library, treeOf(commit))
    for (const state of open) {
      const { fate, next } = tracked(state.truth, state.nonBlank, diff)
      // A file that the commit does not touch is not read again.
      const isTouched =
        diff.shifts.has(state.truth.path) || diff.renames.has(state.truth.path) || diff.deleted.has(state.truth.path)
      counts.checks++
      const { after } = isTouched ? compare(state.citation) : { after: state.citation }
      const isMarked = after.changed_at !== undefined
      if (fate === 'unchanged') {
        state.truth = next
        if (isMarked) state.wrong = `marked at ${commit}, but git reports no change`
        const [first, last = first] = after.lines.split('-').map(Number)
        const isNear = after.path === next.path && first <= next.to && last >= next.from
        state.drift =
          isMarked || isNear
            ? null
            : `${after.path}:${after.lines} and not ${next.path}:${next.from}-${next.to} at ${commit}`
        state.citation = after
        continue
      }
      state.fate = fate
      if (fate === 'slid') continue
      if (fate === 'changed' && !isMarked)
        state.wrong = `not marked at ${commit}: found at ${after.path}:${after.lines}`
      if (fate === 'moved' && isMarked) state.wrong = `marked at ${commit}, but git reports a moved block`
    }
    before = commit
  }
  for (const { fate, wrong, drift } of states) {
    if (fate === 'unchanged' && wrong === null && drift !== null) counts.misplaced++
    if (fate === 'slid') counts.ambiguous++
    else if (fate === 'changed') {
      counts.changed++
      if (wrong === null) counts.marked++
    } else {
      counts.unchanged++
      if (fate === 'moved') counts.moved++
      if (wrong !== null) counts.falsely++
      if (wrong !== null && fate === 'moved') counts.movedMarked++
    }
  }
  if (values.wrong)
    for (const { first: place, wrong, drift } of states)
      if (wrong !== null || drift !== null) console.error(`${name} ${place}: ${wrong ?? `re-anchored to ${drift}`}`)
  return {
    repository: name,
    from: start,
    to: commits.at(-1),
    commits: commits.length,
    citations: states.length,
    ...counts,
  }
}

const library = await bundled(fileURLToPath(new URL('../src/cli/check/library.ts', import.meta.url).href))
const results = []
for (const name of REPOSITORIES) {
  const began = performance.now()
  results.push({ ...(await replay(library, name)), seconds: Math.round((performance.now() - began) / 100) / 10 })
  const { changed, marked, unchanged, falsely, seconds } = results.at(-1)
  console.log(
    `${name}: ${marked} of ${changed} changed citations marked, ${falsely} of ${unchanged} others marked falsely, ${results.at(-1).misplaced} re-anchored to another passage (${seconds} s)`,
  )
}
const sum = (key) => results.reduce((total, one) => total + one[key], 0)
console.log(
  `all: ${((100 * sum('marked')) / sum('changed')).toFixed(1)} % of ${sum('changed')} changed citations marked, ` +
    `${((100 * sum('falsely')) / sum('unchanged')).toFixed(1)} % false marks of ${sum('unchanged')}`,
)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
