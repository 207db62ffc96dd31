import type { UsageSum } from '../../../services/people/usage'
import { Name } from '../parts/common'
import { count } from '../parts/words'

/** Days that the table covers. */
export const USAGE_DAYS = 30

const COLUMNS = [
  ['Calls', 'calls'],
  ['Failed', 'failed'],
  ['Stored', 'entries'],
  ['Tokens returned', 'tokens'],
  ['Rows read', 'rowsRead'],
  ['Rows written', 'rowsWritten'],
] as const

/** Shows how much each key was used; nothing without any use. */
export const KeyUsage = ({ of }: { of: readonly UsageSum[] }) =>
  of.length === 0 ? null : (
    <section class="card scroll records stacked" tabindex={0} aria-label="Use">
      <h2>Use in the last {USAGE_DAYS} days</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Owner</th>
            {COLUMNS.map(([title]) => (
              <th scope="col" class="num">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((sum) => (
            <tr>
              <th scope="row">
                <Name>{sum.key?.name ?? sum.of}</Name>
              </th>
              <td data-label="Owner">{sum.key === null ? null : <Name>{sum.key.owner}</Name>}</td>
              {COLUMNS.map(([title, column]) => (
                <td data-label={title} class="num">
                  {count(sum[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
