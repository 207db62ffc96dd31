import { groupSimilar, type ReviewedEntry } from '../../../domain/capture/review'
import { Facts, KindLabel, Name, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { entryAt } from '../parts/words'
import type { Visit } from '../visit'
import { HiddenFields } from './review-forms'

/** The list of captured sessions that wait, each with its proposals, to approve or drop several at once. */

/** Items that one list holds: one call reviews no more. */
const LISTED = 20

const isProposal = ({ kind }: ReviewedEntry): boolean => kind !== 'session'

export const Tick = ({ of, label }: { of: ReviewedEntry; label: string }) => (
  <label>
    <input type="checkbox" name="pick" value={`${of.id}-${of.version}`} />
    <Name>{label}</Name>
  </label>
)

/** A proposal of a model to remember, with the words of the session on which it rests. */
const Proposal = ({ of }: { of: ReviewedEntry }) => (
  <li data-row data-edit={`${entryAt(of.id)}/edit`}>
    <Tick of={of} label={of.title ?? `Memory ${of.id}`} />
    <Facts>
      <KindLabel kind={of.kind} />
      <a href={entryAt(of.id)} data-open>
        Open
      </a>
    </Facts>
    <p>{of.preview}</p>
    {of.quote === null ? null : <blockquote>{of.quote}</blockquote>}
  </li>
)

export const Session = ({
  of,
  proposals,
  now,
}: {
  of: ReviewedEntry
  proposals: readonly ReviewedEntry[]
  now: number
}) => (
  <li data-row data-edit={`${entryAt(of.id)}/edit`}>
    <Tick of={of} label={of.title ?? `Session ${of.id}`} />
    <Facts>
      {of.client === null ? null : <Name>{of.client}</Name>}
      {of.project === null ? null : <ProjectLink project={of.project} />}
      <Time at={of.updatedAt} now={now} />
      <a href={entryAt(of.id)} data-open>
        Open
      </a>
    </Facts>
    {proposals.length === 0 ? null : (
      <ul class="picks" aria-label="Proposals">
        {proposals.map((one) => (
          <Proposal of={one} />
        ))}
      </ul>
    )}
  </li>
)

export const Waiting = ({ visit, items }: { visit: Visit; items: readonly ReviewedEntry[] }) => {
  const now = visit.services.now()
  const listed = items.slice(0, LISTED)
  const proposals = Map.groupBy(listed.filter(isProposal), ({ threadId }) => threadId)
  const sessions = listed.filter((one) => !isProposal(one))
  const threads = new Set(sessions.map(({ threadId }) => threadId))
  const alone = listed.filter((one) => isProposal(one) && !threads.has(one.threadId))
  return (
    <section class="card" id="waiting">
      <h2>Waiting</h2>
      <PostForm action="/review/several" token={visit.formToken} class="stack-form">
        <HiddenFields visit={visit} />
        {groupSimilar(sessions).map((group) => {
          const list = (
            <ul class="picks">
              {group.map((one) => (
                <Session of={one} proposals={proposals.get(one.threadId) ?? []} now={now} />
              ))}
            </ul>
          )
          if (group.length === 1) return list
          return (
            <fieldset class="picks">
              <legend>{group.length} similar sessions</legend>
              {list}
            </fieldset>
          )
        })}
        {alone.length === 0 ? null : (
          <ul class="picks" aria-label="Proposals of other sessions">
            {alone.map((one) => (
              <Proposal of={one} />
            ))}
          </ul>
        )}
        <p class="actions">
          <button type="submit" name="do" value="keep">
            Approve ticked
          </button>
          <button type="submit" name="do" value="drop" class="bad">
            Drop ticked
          </button>
        </p>
      </PostForm>
    </section>
  )
}
