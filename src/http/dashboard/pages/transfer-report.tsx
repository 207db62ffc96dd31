import type { ImportReport } from '../../../services/transfer/report'
import { Note } from '../parts/common'
import { count, plain, plural } from '../parts/words'

/** What became of a file that was sent in. */
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

export const Imported = ({ reports, dryRun }: { reports: readonly ImportReport[]; dryRun: boolean }) => {
  const problems = reports.flatMap((report) => report.problems.map((one) => ({ ...one, volume: report.volume })))
  return (
    <div class="stack">
      <div class="head">
        <h1>{dryRun ? 'What an import would do' : 'Imported'}</h1>
        <p>
          {plural(reports.length, 'volume')} of the file {dryRun ? 'read; nothing was changed.' : 'taken in.'}
        </p>
      </div>
      {problems.length === 0 ? null : <Note bad>{plural(problems.length, 'record')} cannot be taken.</Note>}
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
      {problems.length === 0 ? null : (
        <section class="card scroll" tabindex={0} aria-label="Problems">
          <h2>Problems</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Id there</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {problems.map(({ volume, line, id, message }) => (
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
      )}
      <p>
        <a href="/settings">Back to the settings</a>
      </p>
    </div>
  )
}
