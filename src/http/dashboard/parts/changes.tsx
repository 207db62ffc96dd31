import type { FeedAction, FeedChange } from '../../../domain/history/feed'
import type { Millis } from '../../../domain/time'
import { KindLabel, Name, Nothing, ThreadLink, Time } from './common'
import { entryAt } from './words'

/** A list of changes; on the activity page the script adds rows with the same markup. */
const SIGNS: Readonly<Record<FeedAction, string>> = { stored: '+', updated: '~', deleted: '−' }
const WORDS: Readonly<Record<FeedAction, string>> = { stored: 'stored', updated: 'changed', deleted: 'deleted' }

const Change = ({ change, now }: { change: FeedChange; now: Millis }) => (
  <li class={`change ${change.action}`} data-row data-edit={`${entryAt(change.entryId)}/edit`}>
    <span class="sign" aria-hidden="true">
      {SIGNS[change.action]}
    </span>
    <p class="facts">
      <span>
        <strong>
          <Name>{change.agent ?? 'somebody'}</Name>
        </strong>{' '}
        {WORDS[change.action]}
      </span>
      {change.kind === null ? null : <KindLabel kind={change.kind} />}
      {change.threadId === null ? null : <ThreadLink id={change.threadId} />}
      <Time at={change.at} now={now} />
    </p>
    <p class="excerpt">
      <a href={entryAt(change.entryId)} data-open>
        {change.preview.trim() || `Memory ${change.entryId}`}
      </a>
    </p>
  </li>
)

export const Changes = ({ changes, now }: { changes: readonly FeedChange[]; now: Millis }) => (
  <>
    {changes.length > 0 ? null : (
      <Nothing title="Nothing has changed yet">
        <p>Everything that agents and people store, change or delete is listed here.</p>
      </Nothing>
    )}
    <ol class="changes">
      {changes.map((change) => (
        <Change change={change} now={now} />
      ))}
    </ol>
  </>
)
