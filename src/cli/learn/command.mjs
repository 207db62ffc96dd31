// `commonplace learn [FOLDER]`: proposes memories that a repository's documents and history suggest. They wait for review.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '../bundle.mjs'
import { loadLibrary as loadChecking } from '../check/command.mjs'
import { comparisonWith } from '../check/compare.mjs'
import { checkMemories, memoriesWith } from '../check/memories.mjs'
import { committedTree } from '../check/tree.mjs'
import { runGit, topOf } from '../git.mjs'
import { namesOf } from '../repository.mjs'
import { call, fail, shown } from '../server.mjs'
import { paint } from '../terminal.mjs'

const MOST_COMMITS = 2_000
const MOST_FILES = 600
const MAX_LENGTH = 1_048_576

/** @returns {Promise<typeof import('./library')>} */
const loadLibrary = () => bundled(fileURLToPath(new URL('./library.ts', import.meta.url).href))

/** Returns git's output in a folder. Ends the program if git fails. @param {string} folder @param {string[]} args */
function git(folder, ...args) {
  const result = runGit(folder, args)
  return 'text' in result ? result.text : fail(`Cannot read the git repository in ${folder}: ${shown(result.problem)}`)
}

/** Lists the files of the last commit, without symbolic links, which have the text of another file. @param {string} folder */
const filesOf = (folder) =>
  git(folder, 'ls-tree', '-r', '-z', '--full-tree', 'HEAD')
    .split('\0')
    .flatMap((row) => {
      const [, mode, blob, path] = /^(\d+) blob (\w+)\t(.*)$/s.exec(row) ?? []
      return path === undefined || mode === '120000' ? [] : [{ path, blob: String(blob) }]
    })

/** Reads files that `learn` uses. @param {string} folder @param {{ path: string, blob: string }[]} files */
const textsOf = (folder, files) =>
  files.slice(0, MOST_FILES).flatMap(({ path, blob }) => {
    const result = runGit(folder, ['cat-file', 'blob', blob])
    if ('text' in result) return result.text.length > MAX_LENGTH ? [] : [{ path, text: result.text }]
    console.error(`skipped ${shown(path)}: ${shown(result.problem)}`)
    return []
  })

/** Reads the newest commits, without merges. @param {string} folder */
function history(folder) {
  const format = '--format=%x1e%H%x1f%s%x1f%b%x1f'
  const text = git(folder, 'log', '--no-merges', '-n', String(MOST_COMMITS), '--name-only', '--no-renames', format)
  return text
    .split('\x1e')
    .slice(1)
    .map((record) => {
      const [id = '', subject = '', body = '', paths = ''] = record.split('\x1f')
      return { id, subject, body, paths: paths.split('\n').filter(Boolean) }
    })
}

/** @param {import('./propose').LearnedProposal[]} proposals @param {string} commit */
function print(proposals, commit) {
  for (const { kind, title, content, citation } of proposals) {
    console.log(`${paint('bold', shown(title))}\n${paint('dim', `  ${kind} · ${shown(citation)}`)}`)
    for (const line of content.split(/\r?\n/)) console.log(`  ${shown(line.replaceAll('\t', '  '))}`.trimEnd())
    console.log()
  }
  console.log(`${proposals.length} proposals from ${commit.slice(0, 12)}. They were not stored (--dry-run).`)
}

const plural = (/** @type {number} */ n, /** @type {string} */ noun) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** @param {any} report of the server, with `changed` @param {import('./propose').LearnedProposal[]} proposals @param {boolean} json */
function showReport(report, proposals, json) {
  const { stored, known, dropped, refused, changed, from, commit, review } = report
  if (refused.length > 0) process.exitCode = 3
  if (json) return console.log(JSON.stringify(report, null, 2))
  console.log(`${paint('green', '✓')} ${plural(stored, 'new proposal')} from ${shown(from)} at ${commit.slice(0, 12)}`)
  if (known + dropped > 0)
    console.log(paint('dim', `  not proposed again: ${known} that wait or were approved, ${dropped} that were dropped`))
  for (const { key, message } of refused) {
    const title = proposals.find((one) => one.key === key)?.title
    console.error(`refused: ${shown(title)}: ${shown(message)}`)
  }
  for (const { id, title } of changed)
    console.log(paint('yellow', `! The source of memory ${id} has changed: ${shown(title)}`))
  if (stored > 0) console.log(`Review them: ${review}`)
}

/**
 * @param {any} options url, dry-run, json, project, audience
 * @param {string | undefined} dir
 */
export async function learn(options, dir) {
  const { url, json, project: given, audience } = options
  const folder = resolve(dir ?? '.')
  if (!existsSync(folder)) fail(`${folder} does not exist`)
  const library = await loadLibrary()
  const commit = git(folder, 'rev-parse', 'HEAD').trim()
  const files = filesOf(folder)
  const texts = textsOf(
    folder,
    files.filter(({ path }) => library.isSource(path)),
  )
  const proposals = library.proposeMemories(
    texts,
    history(folder),
    commit,
    files.map(({ path }) => path),
  )
  if (options['dry-run'])
    return json ? console.log(JSON.stringify({ commit, proposals }, null, 2)) : print(proposals, commit)
  const names = namesOf(folder, library)
  const batch = { from: names.from, project: given?.[0] ?? names.project }
  const report = await call(url, 'POST', '/orgs/-/captured', {
    ...batch,
    ...(audience === undefined ? {} : { audience }),
    proposals: proposals.map(({ key, kind, title, content, sources, commit: of }) => ({
      ...{ key, kind, title, content },
      metadata: { ...(sources.length === 0 ? {} : { sources }), ...(of === undefined ? {} : { commit: of }) },
    })),
  })
  const checking = await loadChecking()
  const memories = await memoriesWith(url, { thread_id: `learn:${batch.from}` }).catch((error) => fail(error.message))
  const tree = committedTree(topOf(folder) ?? folder)
  const checked = await checkMemories(url, memories, comparisonWith(checking, tree), checking)
  for (const { id, problem } of checked)
    if (problem !== undefined) console.error(`memory ${id} was not updated: ${shown(problem)}`)
  const changed = checked.filter(({ isNewlyChanged, isStored }) => isNewlyChanged && isStored)
  showReport(
    {
      ...report,
      commit,
      ...batch,
      changed: changed.map(({ id, title }) => ({ id, title })),
      review: new URL('/review', url).href,
    },
    proposals,
    json,
  )
}
