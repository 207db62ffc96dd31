// `commonplace people`: a person who leaves, and everything that is stored of a person.
import { writeFileSync } from 'node:fs'
import { orgOf } from '../administration.mjs'
import { checkTarget, loadLibrary, writeVolumes } from '../export/command.mjs'
import { showVerified } from '../import/report.mjs'
import { bytesOf } from '../import/volumes-file.mjs'
import { TYPED } from '../place.mjs'
import { showProgress } from '../progress.mjs'
import { call, fail, shown } from '../server.mjs'

/** The parts that remain of a person, with the words for one and for several. */
const PARTS = [
  ['keys', 'key', 'keys'],
  ['entries', 'private memory', 'private memories'],
  ['diary_pages', 'diary page', 'diary pages'],
  ['captured', 'captured session or proposal', 'captured sessions and proposals'],
  ['deleted', 'deleted memory that can be restored', 'deleted memories that can be restored'],
  ['versions', 'private version', 'private versions'],
  ['sessions', 'session that is still collected', 'sessions that are still collected'],
  ['traces', 'other row (events, receipts, visits)', 'other rows (events, receipts, visits)'],
]

/** Calls in a row that change nothing, after which the command ends: another program is writing. */
const MOST_IDLE = 5

/** @param {Record<string, number>} remaining */
const listed = (remaining) =>
  PARTS.flatMap(([name, one, several]) =>
    remaining[name] > 0 ? [`  ${remaining[name]} ${remaining[name] === 1 ? one : several}`] : [],
  ).join('\n')

/**
 * States which keys end and what happens to the rest, which belongs to no key.
 *
 * @param {string} name @param {Record<string, number>} remaining @param {string} ends of the keys @param {string} how of the rest
 */
function outcome(name, { keys = 0, ...rest }, ends, how) {
  const list = listed(rest)
  const ended = `${keys === 1 ? '1 key' : `${keys} keys`} of ${shown(name)} ${ends}.`
  return list === '' ? `${ended} Nothing private is stored of ${shown(name)}.` : `${ended} These ${how}:\n${list}`
}

/**
 * @param {{ url: string, org?: string, to?: string, erase?: boolean, 'dry-run'?: boolean, json?: boolean }} options
 * @param {string} name @param {(problem: string) => never} usage
 */
export async function leave(options, name, usage) {
  const { url, to, erase = false, 'dry-run': isDry = false, json = false } = options
  if (erase === (to !== undefined)) usage('people leave needs either --to OTHER or --erase')
  const org = await orgOf(options)
  const path = `/orgs/${encodeURIComponent(org)}/people/${encodeURIComponent(name)}/leave`
  const body = to === undefined ? { erase: true } : { to }
  const plan = await call(url, 'POST', path, { ...body, dry_run: true })
  if (isDry) {
    if (json) return console.log(JSON.stringify(plan, null, 2))
    if (plan.done) return console.log(`Nothing private is stored of ${shown(name)}, and no key is valid.`)
    const how = to === undefined ? 'would be erased' : `would be handed over to ${shown(to)}`
    return console.log(outcome(name, plan.remaining, 'would be revoked', how))
  }
  const all = plan.remaining.entries + plan.remaining.diary_pages + plan.remaining.captured
  let answer = plan
  for (let idle = 0; !answer.done || answer === plan; ) {
    const before = JSON.stringify(answer.remaining)
    answer = await call(url, 'POST', path, body)
    idle = JSON.stringify(answer.remaining) === before ? idle + 1 : 0
    if (idle === MOST_IDLE) fail(`This remains of ${shown(name)}; run the command again:\n${listed(answer.remaining)}`)
    const { entries, diary_pages: pages, captured } = answer.remaining
    if (!json) showProgress('memories', Math.max(0, all - entries - pages - captured), all)
  }
  if (json) return console.log(JSON.stringify({ ...answer, was: plan.remaining }, null, 2))
  const how = to === undefined ? 'were erased' : `were handed over to ${shown(to)}`
  console.log(
    plan.done
      ? `Nothing private was stored of ${shown(name)}.`
      : outcome(name, plan.remaining, plan.remaining.keys === 1 ? 'is revoked' : 'are revoked', how),
  )
}

/**
 * @param {{ url: string, org?: string, out?: string, 'no-images'?: boolean, json?: boolean }} options
 * @param {string} name @param {(problem: string) => never} usage
 */
export async function exportPerson(options, name, usage) {
  const { url, out, json = false } = options
  if (out === undefined) return usage('people export needs --out F, the file to write')
  checkTarget(out)
  const library = await loadLibrary()
  const org = await orgOf(options)
  const record = await call(url, 'GET', `/orgs/${encodeURIComponent(org)}/people/${encodeURIComponent(name)}`)
  const query = new URLSearchParams({ history: 'true', ...(options['no-images'] ? { images: 'false' } : {}) })
  await writeVolumes(library, { url, org, query, owner: name }, { out, json })
  writeFileSync(`${out}.person.json`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
  const verified = await library.verifyExport(() => bytesOf(out))
  process.exitCode = showVerified(verified, json)
  if (!json)
    console.log(
      `Keys, sessions, visits and actions: ${out}.person.json. Import the memories: ${TYPED.command} import ${out}`,
    )
}
