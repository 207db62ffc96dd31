import type { Millis } from '../../../domain/time'
import type { DiffedPage } from '../../../services/searching/history/read-history'
import { entryAt } from '../parts/addresses'
import { Facts, Name, Pages, Time } from '../parts/common'
import { Diff } from '../parts/diff'
import { PostForm } from '../parts/form'
import type { Visit } from '../visit'

/** Shows the versions of a memory, newest first, with a diff of each change. */
type Version = DiffedPage['versions'][number]

interface VersionsProps {
  readonly id: number
  readonly history: DiffedPage
  /** The form token for restoring a version; null where that is not offered. */
  readonly token: string | null
  readonly now: Millis
  readonly visit: Visit
}

const ACTIONS = { stored: 'stored', updated: 'changed', deleted: 'deleted', restored: 'brought back' } as const

function One({ of, id, history, token, now }: Omit<VersionsProps, 'visit'> & { of: Version }) {
  const isOld = of.version !== history.currentVersion && of.action !== 'deleted'
  return (
    <li class="version">
      <div>
        <Facts>
          <strong>Version {of.version}</strong>
          <span>
            {ACTIONS[of.action]} by <Name>{of.agent ?? of.keyId}</Name>
          </span>
          <Time at={of.at} now={now} />
          {of.changed === null || of.changed.length === 0 ? null : <span>{of.changed.join(', ')}</span>}
        </Facts>
        {isOld ? (
          <span class="actions">
            <a href={`${entryAt(id)}/versions/${of.version}`}>See it</a>
            {token === null ? null : (
              <PostForm action={`${entryAt(id)}/restore`} token={token}>
                <input type="hidden" name="version" value={String(of.version)} />
                <input type="hidden" name="expected" value={String(history.currentVersion)} />
                <button type="submit" class="small">
                  Bring back
                </button>
              </PostForm>
            )}
          </span>
        ) : null}
      </div>
      {of.diff === undefined || of.diff === '' ? null : <Diff text={of.diff} />}
    </li>
  )
}

export const Versions = ({ visit, ...props }: VersionsProps) => {
  const { versions, total } = props.history
  return (
    <section class="card">
      <h2>History</h2>
      <ol>
        {versions.map((version) => (
          <One of={version} {...props} />
        ))}
      </ol>
      <Pages
        url={visit.url}
        offset={Number(visit.url.searchParams.get('offset') ?? 0) || 0}
        shown={versions.length}
        total={total}
        size={20}
      />
    </section>
  )
}
