import type { UseOfMemory } from '../../../domain/capture/usage'
import type { Millis } from '../../../domain/time'
import { Name, Time } from '../parts/common'
import { plural } from '../parts/words'

/** How often sessions used a memory, and who did last; nothing where no session was shown it. */
export const Used = ({ use, now }: { use: UseOfMemory; now: Millis }) => {
  const { shown, used, contradicted, last } = use
  return (
    <>
      {last === null ? null : (
        <span>
          used {plural(used, 'time')}, last by <Name>{last.client}</Name> <Time at={last.at} now={now} />
        </span>
      )}
      {last !== null || shown === 0 ? null : <span>shown {plural(shown, 'time')}, not used</span>}
      {contradicted === 0 ? null : <span>contradicted {plural(contradicted, 'time')}</span>}
    </>
  )
}
