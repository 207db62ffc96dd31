// `commonplace import` of a folder from `export --format markdown`: edited files become new versions of their memories.
import { orgOf } from '../administration.mjs'
import { explained, REFUSALS } from '../import/command.mjs'
import { showPlan, showSent } from '../import/report.mjs'
import { sendVolumes, writeFile } from '../import/send.mjs'
import { request } from '../server.mjs'
import { bringFolder, loadLibrary } from './export.mjs'

/**
 * Returns the store that an organization's ids belong to.
 *
 * @param {typeof import('./library')} library
 * @param {{ url: string, org: string }} target
 */
async function storeOf(library, { url, org }) {
  const query = new URLSearchParams({ limit: '1', images: 'false' })
  const { body } = await request(url, `/orgs/${encodeURIComponent(org)}/export?${query}`)
  if (body === null) return null
  for await (const { record } of library.readVolumes(/** @type {any} */ (body)))
    if (record.record === 'manifest') return record.store
  return null
}

/**
 * Sends the edited files to the store that they come from, and all files to another one.
 *
 * @param {import('../import/command.mjs').ImportOptions} options
 * @param {string} path
 * @param {(problem: string) => never} usage
 */
export async function importFolder(options, path, usage) {
  const library = await loadLibrary()
  const { out, json = false, url = '' } = options
  const dryRun = options['dry-run'] === true
  for (const name of /** @type {const} */ (['project', 'name', 'prompts']))
    if (options[name])
      usage(`--${name} cannot be used with a folder of export --format markdown: each file has its own project and ids`)
  const { edited, ...plan } = await explained(library, async () => library.planFolder(path, new Date().toISOString()))
  const sends = out === undefined && (!dryRun || options.named === true)
  process.exitCode = plan.refused.length > 0 ? REFUSALS : 0
  if (!sends) {
    const volumes = out === undefined ? 0 : await explained(library, () => writeFile(out, plan.volumes(null)))
    return showPlan({ ...plan, volumes }, out ?? null, json)
  }
  const org = await orgOf({ url, org: options.org })
  const isOwn = (await explained(library, () => storeOf(library, { url, org }))) === plan.store
  const query = new URLSearchParams({
    on_conflict: options['on-conflict'] ?? 'skip',
    edits: 'true',
    ...(dryRun ? { dry_run: 'true' } : {}),
  })
  const ids = isOwn ? new Set(edited) : null
  const sent = await explained(library, () =>
    sendVolumes({ url, org, query, json }, ids?.size === 0 ? none() : plan.volumes(ids)),
  )
  // A file without edits has the stored state.
  if (ids !== null) sent.entries.unchanged = (sent.entries.unchanged ?? 0) + plan.entries - ids.size
  showPlan({ ...plan, volumes: 0, sent }, null, json)
  const code = showSent(sent, { json, dryRun, alone: false })
  process.exitCode = code || process.exitCode
  if (ids === null || ids.size === 0 || dryRun) return
  // The next edit of a file starts from the version that is stored now.
  const { project = null } = library.readMarker(path)
  const only = new Set([...ids].map(String))
  const { kept } = await explained(library, () =>
    bringFolder(library, { url, org, project, images: false }, path, { only }),
  )
  if (kept.length === 0) return
  process.exitCode = REFUSALS
  if (!json)
    for (const file of kept)
      console.error(`${file} was not imported: its memory has changed since the file was written`)
}

async function* none() {}
