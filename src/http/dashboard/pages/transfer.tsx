import { Problem } from '../../../domain/errors'
import { MAX_VOLUME_ENTRIES } from '../../../domain/transfer/records'
import { verifyExport } from '../../../domain/transfer/verify'
import { completeVolumes } from '../../../domain/transfer/volume-reader'
import type { Administrator } from '../../../services/people/administration'
import type { ImportReport } from '../../../services/transfer/report'
import { streamOf, unpacked } from '../../gzip'
import { namedProjectOrNone } from '../../named-project'
import { preservesIds } from '../../transfer'
import type { Page } from '../page'
import { Note } from '../parts/common'
import { Choice, Field, PostForm } from '../parts/form'
import { count, plain, plural } from '../parts/words'
import { sent, type Visit } from '../visit'
import { administeringOne, OrgField } from './administering'

/** Shows the outcome of an import. */
const added = (reports: readonly ImportReport[], part: (report: ImportReport) => Readonly<Record<string, number>>) => {
  const sums: Record<string, number> = {}
  for (const report of reports) for (const [name, n] of Object.entries(part(report))) sums[name] = (sums[name] ?? 0) + n
  return Object.entries(sums).filter(([, n]) => n > 0)
}

const Counts = ({ of, what }: { of: readonly (readonly [string, number])[]; what: string }) => (
  <>
    {of.map(([name, n]) => (
      <tr>
        <th scope="row">
          {what} {plain(name)}
        </th>
        <td class="num">{count(n)}</td>
      </tr>
    ))}
  </>
)

type Located = ImportReport['problems'][number] & { readonly volume: number }

const Records = ({ title, of }: { title: string; of: readonly Located[] }) =>
  of.length === 0 ? null : (
    <section class="card scroll" tabindex={0} aria-label={title}>
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Id there</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {of.map(({ volume, line, id, message }) => (
            <tr>
              <td>
                {line} of volume {volume}
              </td>
              <td>{id ?? ''}</td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

export const Imported = ({ reports, dryRun }: { reports: readonly ImportReport[]; dryRun: boolean }) => {
  const located = (part: 'problems' | 'warnings'): Located[] =>
    reports.flatMap((report) => (report[part] ?? []).map((one) => ({ ...one, volume: report.volume })))
  const problems = located('problems')
  const warned = added(reports, (report) => report.warned ?? {}).reduce((sum, [, n]) => sum + n, 0)
  return (
    <div class="stack">
      <div class="head">
        <h1>{dryRun ? 'Import preview' : 'Imported'}</h1>
        <p>
          {plural(reports.length, 'volume')} of the file {dryRun ? 'read; nothing was changed.' : 'imported.'}
        </p>
      </div>
      {problems.length === 0 ? null : <Note bad>{plural(problems.length, 'record')} cannot be imported.</Note>}
      {warned === 0 ? null : <Note>{plural(warned, 'warning')} about secrets and texts that address an agent.</Note>}
      <section class="card">
        <h2>Counts</h2>
        <table>
          <tbody>
            <Counts what="Memories" of={added(reports, ({ entries }) => entries)} />
            <Counts what="Images" of={added(reports, ({ images }) => images)} />
            <Counts what="" of={added(reports, ({ links, versions, vectors }) => ({ links, versions, vectors }))} />
          </tbody>
        </table>
      </section>
      <Records title="Problems" of={problems} />
      <Records title="Warnings" of={located('warnings')} />
      <p>
        <a href="/settings">Back to the settings</a>
      </p>
    </div>
  )
}

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
  for await (const { bytes } of completeVolumes(bytesOf(file))) {
    const caller = { ...actor, changeId: services.ids.next() }
    const chunks = new Response(bytes.slice()).body ?? new ReadableStream<Uint8Array>()
    reports.push(await services.transfer.imports(caller, chunks, { onConflict, dryRun, keepsIds: preservesIds(actor) }))
  }
  if (!dryRun) services.afterwards(services.maintenance.work())
  return {
    title: dryRun ? 'Import preview' : 'Imported',
    at: '/settings',
    body: <Imported reports={reports} dryRun={dryRun} />,
  }
}

/** The forms for an export and an import. */
interface Whose {
  readonly visit: Visit
  readonly by: Administrator
  readonly org: string
}

const OPTIONAL_PARTS = [
  ['images', 'Images', true],
  ['history', 'Older versions', false],
  ['vectors', 'Vectors', false],
] as const

const Export = ({ visit, by, org }: Whose) => (
  <PostForm action="/settings/export" token={visit.formToken} class="card stack-form">
    <h2>Export</h2>
    <p class="soft">
      One packed file with everything that this {by.kind === 'operator' ? 'organization holds' : 'key sees'}, which any
      Commonplace server can import. It never contains keys or the audit log.
    </p>
    <OrgField by={by} org={org} />
    <Field name="project" label="Project" hint="Empty for all" suggest />
    <fieldset class="switch">
      <legend>With</legend>
      {OPTIONAL_PARTS.map(([name, label, isUsual]) => (
        <label>
          <input type="checkbox" name={name} value="true" checked={isUsual} />
          {label}
        </label>
      ))}
    </fieldset>
    <p>
      <button type="submit">Export</button>
    </p>
  </PostForm>
)

const Import = ({ visit, by, org }: Whose) => (
  <PostForm action="/settings/import" token={visit.formToken} class="card stack-form" brings="file">
    <h2>Import</h2>
    <p class="soft">
      Choose a file from an export. Existing memories are not stored twice, so you can import a file again. For files of
      other programs and large files, use <code>commonplace import</code>.
    </p>
    <OrgField by={by} org={org} />
    <Field name="file" label="File" type="file" required />
    <Choice
      name="on_conflict"
      label="Memories that also changed here"
      value="skip"
      options={[
        ['skip', 'keep the version here'],
        ['replace', 'store the version of the file as a new version'],
        ['fail', 'stop the import'],
      ]}
    />
    <p class="actions">
      <button type="submit" name="dry_run" value="true">
        Preview
      </button>
      <button type="submit" class="main">
        Import
      </button>
    </p>
  </PostForm>
)

export const Transfer = (whose: Whose) => (
  <div class="grid">
    <Export {...whose} />
    <Import {...whose} />
  </div>
)
