import type { LeftOut, LeftOutWhy, Omitted } from '../../../domain/pack/pack'
import { entryAt } from '../parts/addresses'
import { Name } from '../parts/common'
import { plural, score } from '../parts/words'

export const LEFT_OUT: Readonly<Record<LeftOutWhy, string>> = {
  limit: 'beyond the limit',
  budget: 'over the token budget',
  duplicate: 'already included',
  superseded: 'superseded',
}

export const WHYS = ['limit', 'budget', 'duplicate', 'superseded'] as const

/** Lists the memories that were found but are not in the pack, by cause. */
export const LeftOutList = ({ of, omitted }: { of: readonly LeftOut[]; omitted: Omitted }) =>
  of.length === 0 ? null : (
    <section class="card">
      <h2>Left out</h2>
      {WHYS.map((cause) => {
        const some = of.filter(({ why }) => why === cause)
        return some.length === 0 ? null : (
          <details open={of.length <= OPEN}>
            <summary>
              {plural(omitted[cause], 'memory', 'memories')} {LEFT_OUT[cause]}
            </summary>
            <ol class="more toc">
              {some.map(({ id, name, score: value }) => (
                <li>
                  <a class="quiet" href={entryAt(id)}>
                    <Name>{name || `Memory ${id}`}</Name>
                  </a>
                  <span class="score">{score(value)}</span>
                </li>
              ))}
            </ol>
          </details>
        )
      })}
    </section>
  )

/** Number of memories shown without a click. */
const OPEN = 6
