import { entryAt } from '../parts/addresses'
import { Note } from '../parts/common'
import { PostForm } from '../parts/form'
import { asked, askedNumber, type Visit } from '../visit'
import { Carried } from './review-forms'

/** Reports the last review action, with its undo. */

const DONE = new Map(
  Object.entries({
    keep: 'Kept: agents can now find it.',
    merge: 'Merged into one memory.',
    drop: 'Dropped.',
    approve: 'Approved: hooks now include it.',
    undo: 'Taken back.',
  }),
)

export const Done = ({ visit }: { visit: Visit }) => {
  const undoable = visit.url.searchParams.getAll('change').length
  const said = DONE.get(asked(visit, 'done') ?? '')
  if (said === undefined && undoable === 0) return null
  const made = askedNumber(visit, 'made', 0, Number.MAX_SAFE_INTEGER)
  return (
    <Note>
      <span>
        {said ?? ''} {made === 0 ? null : <a href={entryAt(made)}>Memory {made}</a>}
      </span>
      {undoable === 0 ? null : (
        <PostForm action="/review/undo" token={visit.formToken} shortcut="u">
          <Carried visit={visit} />
          <button type="submit" class="small">
            Undo <kbd>u</kbd>
          </button>
        </PostForm>
      )}
    </Note>
  )
}
