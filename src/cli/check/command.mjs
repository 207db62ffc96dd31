// `commonplace check [FOLDER]`: compares the lines that memories cite with the working tree.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '../bundle.mjs'
import { topOf } from '../git.mjs'
import { namesOf } from '../repository.mjs'
import { fail, shown } from '../server.mjs'
import { paint } from '../terminal.mjs'
import { comparisonWith } from './compare.mjs'
import { checkMemories, memoriesWith } from './memories.mjs'
import { workingTree } from './tree.mjs'

/** @returns {Promise<typeof import('./library')>} */
export const loadLibrary = () => bundled(fileURLToPath(new URL('./library.ts', import.meta.url).href))

const STATES = /** @type {const} */ (['unchanged', 'filled', 'moved', 'changed', 'gone'])
const WORDS = {
  unchanged: 'unchanged',
  filled: 'recorded for the first time',
  moved: 'moved',
  changed: 'changed',
  gone: 'gone with their file',
}

/** @param {import('./memories.mjs').Checked[]} checked */
const countsOf = (checked) =>
  Object.fromEntries(
    STATES.map((state) => [
      state,
      checked.flatMap(({ sources }) => sources).filter((one) => one.state === state).length,
    ]),
  )

/**
 * @param {import('./memories.mjs').Checked[]} checked @param {(citation: any) => string} placeOf @param {boolean} isDry
 */
function print(checked, placeOf, isDry) {
  for (const { id, title, sources, problem } of checked) {
    const told = sources.filter(({ state }) => state === 'moved' || state === 'changed' || state === 'gone')
    if (told.length === 0 && problem === undefined) continue
    console.log(`${String(id).padStart(4)}  ${paint('bold', shown(title))}`)
    for (const { before, after, state } of told)
      console.log(
        state === 'moved'
          ? `      ${paint('dim', `moved    ${shown(placeOf(before))} → ${shown(placeOf(after))}`)}`
          : `      ${paint('yellow', `${state.padEnd(8)} ${shown(placeOf(before))}, since ${after.changed_at}`)}`,
      )
    if (problem !== undefined) console.error(`      ${paint('red', `not updated: ${shown(problem)}`)}`)
  }
  const counts = Object.entries(countsOf(checked)).filter(([, count]) => count > 0)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const list = counts.map(([state, count]) => `${count} ${WORDS[/** @type {keyof typeof WORDS} */ (state)]}`).join(', ')
  const memories = checked.length === 1 ? '1 memory' : `${checked.length} memories`
  console.log(
    `${total === 1 ? '1 cited place' : `${total} cited places`} of ${memories}${list === '' ? '' : `: ${list}`}${isDry ? ' (--dry-run: nothing was stored)' : ''}`,
  )
}

/**
 * @param {any} options url, dry-run, json, project
 * @param {string | undefined} dir
 */
export async function check(options, dir) {
  const { url, json, project: given, 'dry-run': isDry = false } = options
  const folder = resolve(dir ?? '.')
  if (!existsSync(folder)) fail(`${folder} does not exist`)
  const library = await loadLibrary()
  const top = topOf(folder) ?? folder
  const project = given?.[0] ?? namesOf(folder, library).project
  const checked = await memoriesWith(url, { metadata_filters: [{ key: 'project', operator: 'eq', value: project }] })
    .then((memories) => checkMemories(url, memories, comparisonWith(library, workingTree(top)), library, isDry))
    .catch((error) => fail(error.message))
  if (checked.some(({ problem }) => problem !== undefined)) process.exitCode = 3
  if (json)
    return console.log(
      JSON.stringify({ project, folder: top, dry_run: isDry, counts: countsOf(checked), memories: checked }, null, 2),
    )
  if (checked.length === 0)
    return console.log(`No memory of project ${shown(project)} cites code. docs/sources.md shows how to cite lines.`)
  print(checked, library.placeOf, isDry)
}
