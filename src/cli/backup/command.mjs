// `commonplace backup` and `commonplace restore`: saves an organization as files, in the server's bucket or a folder, and restores it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { orgOf } from '../administration.mjs'
import { counted } from '../counted.mjs'
import { endOf, loadLibrary, volumesOf } from '../export/command.mjs'
import { showSent } from '../import/report.mjs'
import { sendVolumes } from '../import/send.mjs'
import { showProgress } from '../progress.mjs'
import { ask, call, fail, messageOf, Refused, request } from '../server.mjs'

const BUCKET = 'r2'

/** @param {Uint8Array} bytes */
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** @param {string} org */
const at = (org) => `/orgs/${encodeURIComponent(org)}/backups`

/** @typedef {{ volume: number, sha256: string, bytes: number, entries: number, content: string }} Volume */

/**
 * @param {{ url: string, org?: string, to?: string, json?: boolean }} options
 * @param {(problem: string) => never} usage
 */
export async function backup(options, usage) {
  const { url, to, json } = options
  if (to === undefined) usage('backup needs --to r2 (the bucket of the server), or --to FOLDER')
  const org = await orgOf(options)
  const manifest =
    to === BUCKET ? await intoBucket(url, org, json === true) : await intoFolder(url, org, to, json === true)
  const entries = manifest.volumes.reduce(
    (/** @type {number} */ sum, /** @type {Volume} */ one) => sum + one.entries,
    0,
  )
  if (json) console.log(JSON.stringify(manifest))
  else
    console.log(
      `The backup of ${org} of ${manifest.day} is complete: ${counted(entries, 'entry', 'entries')} in ` +
        `${counted(manifest.volumes.length, 'volume')}.`,
    )
}

/** @param {string} url @param {string} org @param {boolean} json */
async function intoBucket(url, org, json) {
  let count = 0
  for (let from = ''; ; ) {
    const { next } = await call(url, 'POST', `${at(org)}?${new URLSearchParams(from === '' ? {} : { from })}`)
    count++
    if (!json) showProgress('volumes', count, count)
    if (next === null) break
    from = next
  }
  const { backups } = await call(url, 'GET', at(org))
  return backups[0]
}

/** Backs up into a folder. The volumes include the images, so that a folder is complete. @param {string} url @param {string} org @param {string} to @param {boolean} json */
async function intoFolder(url, org, to, json) {
  const now = new Date().toISOString()
  const day = now.slice(0, 10)
  const finished = join(to, encodeURIComponent(org), day)
  // An earlier backup of the same day is deleted only when this one is complete.
  const folder = `${finished}.unfinished`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const library = await loadLibrary()
  /** @type {Volume[]} */
  const volumes = []
  try {
    for await (const bytes of volumesOf(library, { url, org, query: new URLSearchParams({ history: 'true' }) })) {
      const gzip = gzipSync(bytes)
      const { content, counts } = endOf(bytes)
      const volume = volumes.length + 1
      writeFileSync(join(folder, `${volume}.ndjson.gz`), gzip)
      volumes.push({ volume, sha256: sha256(gzip), bytes: gzip.length, entries: counts.entry ?? 0, content })
      if (!json) showProgress('volumes', volume, volume)
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    if (error instanceof library.Problem) fail(error.message)
    fail(messageOf(error))
  }
  const manifest = { org, day, at: now, volumes }
  writeFileSync(join(folder, 'complete.json'), `${JSON.stringify(manifest, null, 1)}\n`)
  rmSync(finished, { recursive: true, force: true })
  renameSync(folder, finished)
  return manifest
}

/**
 * @param {{ url: string, org?: string, from?: string, 'on-conflict'?: string, report?: string, json?: boolean }} options
 *   `report`: address of the server that made the backup, which records the result as a restore drill
 * @param {string} day
 * @param {(problem: string) => never} usage
 */
export async function restore(options, day, usage) {
  const { url, from = BUCKET, report, json } = options
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) usage('restore needs a day, such as 2026-11-24')
  const org = options.org ?? usage('restore needs --org ORG')
  // An empty deployment has no organizations and lists no backups; an admin key has one but may not create any.
  const makeOrg = () => ask(url, 'POST', '/orgs', { id: org, name: org }).catch(() => {})
  if (from === BUCKET) await makeOrg()
  const { manifest, read } = from === BUCKET ? await ofBucket(url, org, day) : ofFolder(from, org, day)
  await makeOrg()
  const query = new URLSearchParams({ on_conflict: options['on-conflict'] ?? 'skip' })
  async function* volumes() {
    for (const { volume, sha256: hash } of manifest.volumes) {
      const gzip = await read(volume)
      if (sha256(gzip) !== hash)
        throw new Refused(`volume ${volume} of ${day} does not match complete.json; nothing of it was sent`)
      yield { bytes: new Uint8Array(gunzipSync(gzip)) }
    }
  }
  /** @param {string | null} problem */
  const record = async (problem) => {
    if (report === undefined) return
    await call(report, 'POST', `${at(org)}/drill`, { day, passed: problem === null, problem })
    if (!json) console.log(`Recorded at ${report}: the restore drill ${problem === null ? 'passed' : 'failed'}.`)
  }
  const sent = await sendVolumes({ url, org, query, json }, volumes()).catch(async (error) => {
    const message = messageOf(error)
    await record(message)
    // The organization of open mode, which no deployment with keys has.
    const isOpen = org === 'local' && from !== BUCKET && /^No such organization/.test(message)
    fail(isOpen ? `${message}. ${byImport(from, org, day, 'ORG')}` : message)
  })
  process.exitCode = showSent(sent, { json: json === true, dryRun: false, alone: true })
  await record(problemOf(sent))
}

/** Returns why a restore is incomplete; null if everything is there. @param {import('../import/send.mjs').Totals} sent */
function problemOf({ unequal, entries, images, problems }) {
  if (unequal.length > 0) return `the content of ${counted(unequal.length, 'volume')} differs after the restore`
  const refused = entries.refused ?? 0
  if (refused > 0) return `${counted(refused, 'entry', 'entries')} refused: ${problems[0]?.message ?? 'see the report'}`
  const missing = images.missing ?? 0
  return missing > 0 ? `${counted(missing, 'image')} missing` : null
}

/** @param {string} url @param {string} org @param {string} day */
async function ofBucket(url, org, day) {
  const { backups } = await call(url, 'GET', at(org))
  const manifest = backups.find((/** @type {{ day: string }} */ one) => one.day === day)
  if (manifest === undefined)
    fail(`no complete backup of ${day} exists; available days: ${backups.map((one) => one.day).join(', ') || 'none'}`)
  /** @param {number} volume */
  const read = async (volume) => new Uint8Array(await (await request(url, `${at(org)}/${day}/${volume}`)).arrayBuffer())
  return { manifest, read }
}

/** Returns the days whose backup is complete. @param {string} place the folder of an org @returns {string[]} */
const daysIn = (place) =>
  existsSync(place) ? readdirSync(place).filter((day) => existsSync(join(place, day, 'complete.json'))) : []

/** Returns the command that imports a backup into another organization. @param {string} folder @param {string} org @param {string} day @param {string} into */
const byImport = (folder, org, day, into) =>
  `To import a volume into another organization: import ${join(folder, encodeURIComponent(org), day, '1.ndjson.gz')} --org ${into}`

/** @param {string} folder @param {string} org @param {string} day */
function ofFolder(folder, org, day) {
  const place = join(folder, encodeURIComponent(org))
  const others = existsSync(folder)
    ? readdirSync(folder).filter((name) => daysIn(join(folder, name)).includes(day))
    : []
  const [other] = others.map(decodeURIComponent)
  if (!existsSync(place) && other !== undefined)
    fail(`${folder} has no backup of ${org}, only of ${others.join(', ')}. ${byImport(folder, other, day, org)}`)
  const file = join(place, day, 'complete.json')
  if (!existsSync(file))
    fail(`${folder} has no complete backup of ${day}; available days: ${daysIn(place).join(', ') || 'none'}`)
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  /** @param {number} volume */
  const read = async (volume) => new Uint8Array(readFileSync(join(place, day, `${volume}.ndjson.gz`)))
  return { manifest, read }
}
