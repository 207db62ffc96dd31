import { titleOf } from '../../../domain/entry/title'
import { mayChange } from '../../../domain/identity/scope'
import type { Page } from '../page'
import { By, Facts, Images, KindLabel, Name, Note, Tags, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { entryAt } from '../parts/words'
import { principalOf, type Visit } from '../visit'
import { About, idOf, noEntry, StoredText } from './entry'

/** Shows one version of a memory. */
export async function entryVersion(visit: Visit): Promise<Page> {
  const id = idOf(visit)
  const version = Number(visit.url.pathname.split('/')[4])
  if (!Number.isSafeInteger(version) || version < 1) throw noEntry()
  const principal = principalOf(visit)
  const [then, [present]] = await Promise.all([
    visit.services.readHistory.state(principal, id, version),
    visit.services.entries.read(principal, [id]),
  ])
  const canRestore = present !== undefined && present.version !== version && mayChange(principal, present)
  const now = visit.services.now()
  return {
    title: `${titleOf(then)}, version ${version}`,
    body: (
      <>
        <Note>
          <span>This is version {version}.</span>
          <a href={entryAt(id)}>Go to the current version</a>
          {canRestore ? (
            <PostForm action={`${entryAt(id)}/restore`} token={visit.formToken}>
              <input type="hidden" name="version" value={String(version)} />
              <input type="hidden" name="expected" value={String(present.version)} />
              <button type="submit" class="small">
                Restore this version
              </button>
            </PostForm>
          ) : null}
        </Note>
        <div class="head">
          <h1>
            <Name>{titleOf(then) || `Memory ${id}`}</Name>
          </h1>
        </div>
        <div class="columns">
          <article class="card">
            <Facts>
              <KindLabel kind={then.kind} />
              <By entry={then} />
              <Time at={then.updatedAt} now={now} />
            </Facts>
            <StoredText visit={visit} text={then.text} />
            <div class="more">
              <Images of={then} />
            </div>
            <div class="more">
              <Tags tags={then.tags} />
            </div>
          </article>
          <div class="beside">
            <About entry={then} now={now} />
          </div>
        </div>
      </>
    ),
  }
}
