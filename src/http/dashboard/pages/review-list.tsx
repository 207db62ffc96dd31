import { groupSimilar, learnedFrom, type ReviewedEntry } from '../../../domain/capture/review'
import { Facts, KindLabel, Name, ProjectLink, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { entryAt, plural } from '../parts/words'
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

const READERS = new Map([
  ['org', 'once approved: readable by the organization'],
  ['project', 'once approved: readable in its project'],
])

/** Shows who can read a proposal once it is approved, if that is not its owner alone. */
export const Readers = ({ of }: { of: ReviewedEntry }) => {
  const readers = READERS.get(of.approvedAudience ?? '')
  return readers === undefined ? null : <span>{readers}</span>
}

/** A proposal to remember, with the words of the session on which it rests, or the places of the repository. */
const Proposal = ({ of }: { of: ReviewedEntry }) => (
  <li data-row data-edit={`${entryAt(of.id)}/edit`}>
    <Tick of={of} label={of.title ?? `Memory ${of.id}`} />
    <Facts>
      <KindLabel kind={of.kind} />
      {of.sources.map((place) => (
        <Name>{place}</Name>
      ))}
      <Readers of={of} />
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

/** Returns how many proposals of a batch the list shows. */
function shareOf(listed: readonly ReviewedEntry[], items: readonly ReviewedEntry[]): string {
  const all = items.filter(({ threadId }) => threadId === listed[0]?.threadId).length
  return listed.length === all ? plural(all, 'proposal') : `${listed.length} of ${all} proposals`
}

export const Waiting = ({ visit, items }: { visit: Visit; items: readonly ReviewedEntry[] }) => {
  const now = visit.services.now()
  const listed = items.slice(0, LISTED)
  const proposals = Map.groupBy(listed.filter(isProposal), ({ threadId }) => threadId)
  const sessions = listed.filter((one) => !isProposal(one))
  const threads = new Set(sessions.map(({ threadId }) => threadId))
  const alone = listed.filter((one) => isProposal(one) && !threads.has(one.threadId) && learnedFrom(one) === null)
  const learned = Map.groupBy(listed, (one) => learnedFrom(one) ?? '')
  learned.delete('')
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
        {[...learned].map(([from, group]) => (
          <fieldset class="picks">
            <legend>
              Learned from <Name>{from}</Name>: {shareOf(group, items)}
            </legend>
            <ul class="picks">
              {group.map((one) => (
                <Proposal of={one} />
              ))}
            </ul>
          </fieldset>
        ))}
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
