import { Problem } from '../../../domain/errors'
import { MAX_VOLUME_ENTRIES } from '../../../domain/transfer/records'
import { verifyExport } from '../../../domain/transfer/verify'
import { wholeVolumes } from '../../../domain/transfer/volume-reader'
import type { ImportReport } from '../../../services/transfer/report'
import { streamOf, unpacked } from '../../gzip'
import { namedProjectOrNone } from '../../named-project'
import { keepsIds } from '../../transfer'
import type { Page } from '../page'
import { sent, type Visit } from '../visit'
import { administeringOne } from './administering'
import { Imported } from './transfer-report'

/** Exports and imports from the dashboard (operate contract §2), with the same rules as the routes for programs. */

/** Volumes per import from a page, limited by the D1 queries of one Worker invocation; the command line sends one volume per request. */
const MOST_VOLUMES = 5
const CONFLICTS = ['skip', 'replace', 'fail'] as const

async function actorOf(visit: Visit, action: string) {
  const { by, org } = await administeringOne(visit, action)
  return visit.services.administration.actor(by, org)
}

/** Downloads an export as a compressed file, with as many volumes as one request may contain. */
export async function exportOrg(visit: Visit): Promise<Response> {
  const { services } = visit
  const { exports } = services.transfer
  const actor = await actorOf(visit, 'export')
  const { scope: by, project } = await namedProjectOrNone(services, actor, sent(visit, 'project'))
  const has = (part: string) => sent(visit, part) !== null
  const going = await exports.begin(by, actor.keyId, {
    project,
    after: null,
    ...{ history: has('history'), vectors: has('vectors'), images: has('images') },
  })
  await services.administration.note(actor, true, { volume: going.volume })
  const bytes = streamOf(exports.parts(by, going, { limit: MAX_VOLUME_ENTRIES }))
  const day = new Date(services.now()).toISOString().slice(0, 10)
  return new Response(bytes.pipeThrough(new CompressionStream('gzip')), {
    headers: {
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="${actor.org}-${day}.ndjson.gz"`,
      'Cache-Control': 'no-store',
    },
  })
}

async function* bytesOf(file: Blob): AsyncGenerator<Uint8Array> {
  yield* await unpacked({ body: file.stream() })
}

/** Reads the complete file before anything is imported. @throws Problem naming the line of the first error */
async function checked(file: Blob): Promise<void> {
  const { volumes } = await verifyExport(() => bytesOf(file))
  const unequal = volumes.find(({ content, computed }) => content !== computed)
  if (unequal !== undefined)
    throw new Problem(
      'invalid_input',
      `line ${unequal.line}: the content hash of volume ${unequal.volume} does not match its entries; nothing was imported`,
    )
  if (volumes.length > MOST_VOLUMES)
    throw new Problem(
      'limit_exceeded',
      `The file has ${volumes.length} volumes, but a page can import at most ${MOST_VOLUMES}; nothing was imported. ` +
        'Use the command line: npm run -s commonplace -- import FILE',
    )
}

export async function importFile(visit: Visit): Promise<Page> {
  const { services, file } = visit
  const actor = await actorOf(visit, 'import')
  const onConflict = CONFLICTS.find((known) => known === (sent(visit, 'on_conflict') ?? 'skip'))
  if (onConflict === undefined) throw new Problem('invalid_input', 'Choose what to do with memories that differ')
  if (file === null) throw new Problem('invalid_input', 'Choose a file from an export')
  await checked(file)
  const dryRun = sent(visit, 'dry_run') !== null
  const reports: ImportReport[] = []
  for await (const { bytes } of wholeVolumes(bytesOf(file))) {
    const caller = { ...actor, changeId: services.ids.next() }
    const chunks = new Response(bytes.slice()).body ?? new ReadableStream<Uint8Array>()
    reports.push(await services.transfer.imports(caller, chunks, { onConflict, dryRun, keepsIds: keepsIds(actor) }))
  }
  if (!dryRun) services.afterwards(services.maintenance.work())
  return {
    title: dryRun ? 'Import preview' : 'Imported',
    at: '/settings',
    body: <Imported reports={reports} dryRun={dryRun} />,
  }
}
