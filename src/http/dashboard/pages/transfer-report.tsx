import type { ImportReport } from '../../../services/transfer/report'
import { Note } from '../parts/common'
import { count, plain, plural } from '../parts/words'

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
