// Prints reports of an import and of a file of volumes: lines, or one JSON object with --json.
import { counted } from '../counted.mjs'
import { shown } from '../server.mjs'

/** Lines shown of each list; --json has all. */
const SHOWN = 100

/** @param {string} title @param {readonly string[]} lines */
function list(title, lines) {
  if (lines.length === 0) return
  console.log(`${title} (${lines.length}):`)
  // Escapes control characters of foreign files.
  for (const line of lines.slice(0, SHOWN)) console.log(`  ${shown(line)}`)
  if (lines.length > SHOWN) console.log(`  … and ${lines.length - SHOWN} more; --json lists all`)
}

/** @param {readonly { where: string, message: string }[]} messages */
const lines = (messages) => messages.map(({ where, message }) => `${where}: ${message}`)

/**
 * @param {Omit<import('./plan').Plan, 'volumes'> & { volumes: number, sent?: import('./send.mjs').Totals }} plan
 * @param {string | null} out
 * @param {boolean} json
 */
export function showPlan(plan, out, json) {
  if (json) {
    console.log(JSON.stringify({ ...plan, ...(out === null ? {} : { out }) }))
    return
  }
  const { entries, images, links, threads, refused, notes, skipped, content } = plan
  list(
    'threads',
    threads.map(
      (thread) => `${String(thread.entries).padStart(6)}  ${thread.content.slice(0, 16)}  ${thread.thread_id}`,
    ),
  )
  list('refused', lines(refused))
  list('imported with a remark', lines(notes))
  list(
    'left out',
    Object.entries(skipped).map(([what, count]) => `${count} ${what}`),
  )
  console.log(
    `${counted(entries, 'entry', 'entries')}, ${counted(images, 'image')}, ${counted(links, 'link')} in ` +
      `${counted(threads.length, 'thread')}; content ${content}`,
  )
  if (plan.sent !== undefined) return
  console.log(
    out === null ? 'Nothing was sent or written.' : `${counted(plan.volumes, 'volume is', 'volumes are')} in ${out}.`,
  )
}

/** @param {Record<string, number>} counts */
const listed = (counts) =>
  Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${n} ${name}`)
    .join(', ') || 'none'

/** @param {import('./send.mjs').Totals['problems'][number]} problem */
const located = ({ volume, line, id, code, message }) =>
  `volume ${volume} line ${line}${id === undefined ? '' : ` (id ${id})`}: ${code}: ${message}`

/**
 * @param {import('./send.mjs').Totals} sent
 * @param {{ json: boolean, dryRun: boolean, alone: boolean }} options `alone`: no other output
 * @returns {number} the exit code
 */
export function showSent(sent, { json, dryRun, alone }) {
  const { entries, images, links, versions, vectors, problems, warnings, warned, volumes, unequal } = sent
  if (json && alone) console.log(JSON.stringify(sent))
  if (!json) {
    list('reported by the server', problems.map(located))
    list('warnings of the server', warnings.map(located))
    const unnamed = Object.values(warned).reduce((sum, n) => sum + n, 0) - warnings.length
    if (unnamed > 0) console.log(`  … and ${counted(unnamed, 'warning')} that the server reports without line numbers`)
    console.log(
      `${dryRun ? 'Preview of' : 'Of'} ${counted(volumes, 'volume')}: entries ${listed(entries)}; images ${listed(images)}`,
    )
    console.log(
      dryRun
        ? 'Nothing was written; a real import also counts links, versions and vectors.'
        : `${counted(links, 'link')}, ${counted(versions, 'version')}, ${counted(vectors, 'vector')}.`,
    )
  }
  for (const volume of unequal) console.error(`volume ${volume}: the content on the server differs from the file`)
  if (unequal.length > 0) return 1
  return (entries.refused ?? 0) > 0 ? 3 : 0
}

/**
 * @param {import('../../domain/transfer/verify').Verified} verified
 * @param {boolean} json
 * @returns {number} the exit code
 */
export function showVerified({ volumes, counts, content, threads }, json) {
  const unequal = volumes.filter((volume) => volume.content !== volume.computed)
  const equal = unequal.length === 0
  if (json) {
    const byThread = [...threads].map(([thread_id, thread]) => ({ thread_id, ...thread }))
    console.log(JSON.stringify({ equal, volumes: volumes.length, counts, content, threads: byThread }))
  } else {
    for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(10)}${String(count).padStart(10)}`)
    console.log(`content   ${content}`)
    if (equal) console.log(`${counted(volumes.length, 'volume is', 'volumes are')} complete and equal.`)
  }
  for (const { volume, line, content, computed } of unequal)
    console.error(`line ${line}: volume ${volume} has the content hash ${content}, but its entries give ${computed}`)
  return equal ? 0 : 1
}
