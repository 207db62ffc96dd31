import type { Child } from 'hono/jsx'
import type { Counted } from '../../../domain/statistics'
import { DAY_MS, type Millis } from '../../../domain/time'
import { Name } from './common'
import { count, day, percent, withQuery } from './words'

/** Charts rendered on the server: SVG, and the same numbers as a table. */

/** Size of the drawing in its own units; the stylesheet scales it. */
const [STEP, HEIGHT] = [24, 100]

/** Returns every day from the first to the last, including days without entries. */
function everyDay(days: readonly Counted[], now: Millis, length: number): Counted[] {
  const known = new Map(days.map(({ name, count: number }) => [name, number]))
  return Array.from({ length }, (_, i) => {
    const name = new Date(now - (length - 1 - i) * DAY_MS).toISOString().slice(0, 10)
    return { name, count: known.get(name) ?? 0 }
  })
}

const dayOf = (name: string, now: Millis) => day(Date.parse(name), now)

/** The memories of one day. */
const atDay = (name: string): string => withQuery('/search', { from: name, to: name })

/** A chart of the memories stored per day; each bar leads to its memories, and so does each row of the table. */
export function Days({ days, now, length }: { days: readonly Counted[]; now: Millis; length: number }) {
  const all = everyDay(days, now, length)
  const most = Math.max(1, ...all.map(({ count: number }) => number))
  const sum = all.reduce((total, { count: number }) => total + number, 0)
  const height = (number: number) => (number === 0 ? 0 : Math.max(2, (number / most) * HEIGHT))
  const [first, middle] = [all[0]?.name ?? '', all[Math.floor(length / 2)]?.name ?? '']
  return (
    <div class="days">
      <p class="sum">
        {count(sum)}{' '}
        <small>
          in {length} days, at most {count(most)} a day
        </small>
      </p>
      <svg viewBox={`0 0 ${STEP * length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {[0, 0.5, 1].map((at) => (
          <line class="line" x1={0} x2={STEP * length} y1={HEIGHT * at} y2={HEIGHT * at} />
        ))}
        {all.map(({ name, count: number }, i) => (
          <a href={atDay(name)} tabindex={-1}>
            <title>{`${dayOf(name, now)}: ${count(number)}`}</title>
            <rect class="hit" x={i * STEP} y={0} width={STEP} height={HEIGHT} />
            <rect class="day" x={i * STEP + 5} y={HEIGHT - height(number)} width={STEP - 10} height={height(number)} />
          </a>
        ))}
      </svg>
      <p class="scale" aria-hidden="true">
        <span>{dayOf(first, now)}</span>
        <span>{dayOf(middle, now)}</span>
        <span>today</span>
      </p>
      <details class="more">
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="num">
                Stored
              </th>
            </tr>
          </thead>
          <tbody>
            {all.toReversed().map(({ name, count: number }) => (
              <tr>
                <th scope="row">
                  <a href={atDay(name)}>{dayOf(name, now)}</a>
                </th>
                <td class="num">{count(number)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  )
}

/** A bar that fills a fraction of its width. @param share 0 to 1 */
export const Bar = ({ share, full = false }: { share: number; full?: boolean }) => (
  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="track" width="100" height="8" />
    <rect class={full ? 'full' : 'part'} width={Math.min(100, Math.max(share > 0 ? 1 : 0, share * 100))} height="8" />
  </svg>
)

interface BarsProps {
  readonly title: string
  /** The header of the first column. */
  readonly of: string
  readonly rows: readonly Counted[]
  readonly label: (name: string) => Child
  /** The list of the memories of a row. */
  readonly at: (name: string) => string
}

/** A table whose rows have a bar, sorted by value. */
export function Bars({ title, of, rows, label, at }: BarsProps) {
  const most = Math.max(1, ...rows.map(({ count: number }) => number))
  return (
    <section class="card">
      <h2>{title}</h2>
      <table class="bars">
        <thead class="hidden">
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">Share</th>
            <th scope="col">Memories</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, count: number }) => (
            <tr>
              <th scope="row">
                <a class="quiet" href={at(name)}>
                  {name === '' ? <span class="soft">not named</span> : <Name>{label(name)}</Name>}
                </a>
              </th>
              <td class="bar">
                <Bar share={number / most} />
              </td>
              <td class="num">{count(number)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface MeterProps {
  readonly label: string
  readonly part: number
  readonly whole: number
  readonly says?: string
  /** Fraction from which it is shown as a warning. */
  readonly warnsAt?: number
}

/** Shows a part of a total. */
export const Meter = ({ label, part, whole, says, warnsAt = 2 }: MeterProps) => (
  <div class="meter">
    <p>
      <span>{label}</span>
      <span class="soft">{says ?? percent(part, whole)}</span>
    </p>
    <Bar share={whole === 0 ? 0 : part / whole} full={whole > 0 && part / whole >= warnsAt} />
  </div>
)
