import { storeContext } from '../../../tools/threads/store-context'
import { callTool } from '../call'
import { seeOther } from '../page'
import { Copyable } from '../parts/common'
import { Clients, endpointOf } from '../parts/connect'
import { PostForm } from '../parts/form'
import { hasRole, type Visit } from '../visit'

/** What stands in the place of the overview while nothing is stored: what this is, and the three steps to a shared memory. */
export const Beginning = ({ visit }: { visit: Visit }) => {
  const { origin } = visit.url
  const open = visit.config.authMode === 'open'
  return (
    <>
      <div class="head">
        <h1>A memory for your agents</h1>
        <p>
          Nothing is stored yet that this {open ? 'computer' : 'key'} can see. Agents that connect here remember
          decisions, conventions and mistakes for each other, and you see all of it on these pages.
        </p>
      </div>
      <ol class="steps">
        <li class="card">
          <h2>Connect a client</h2>
          <p>
            The address of the server is <code>{endpointOf(origin)}</code>.{' '}
            {open
              ? 'It answers programs of this computer without a key.'
              : visit.oauth
                ? 'Clients that know OAuth need the address alone; the others also need a key.'
                : 'Every client needs a key.'}
          </p>
          <Clients of={{ origin, open, key: null }} />
        </li>
        <li class="card">
          <h2>Let an agent remember something</h2>
          <p>Say to it, for example:</p>
          <Copyable
            text="Remember for the team: we deploy on Tuesdays, and never without a rollback plan."
            label="Something to say to an agent"
          />
        </li>
        <li class="card">
          <h2>Or begin here</h2>
          {hasRole(visit, 'writer') ? (
            <PostForm action="/first-memory" token={visit.formToken}>
              <button type="submit" class="main">
                Store a first memory
              </button>
            </PostForm>
          ) : (
            <p>This key reads only. Somebody with a writer’s key can store the first memory.</p>
          )}
        </li>
      </ol>
    </>
  )
}

/** A first memory, so that everything else has something to show. */
const FIRST = `This memory was stored from the dashboard. Agents that connect to this server read it, and write their own beside it:
decisions, conventions, what went wrong and how it was mended.`

export async function storeFirst(visit: Visit): Promise<Response> {
  const { context_id: id } = await callTool(visit, storeContext, {
    thread_id: 'welcome',
    source: 'user',
    text: FIRST,
    tags: ['welcome'],
    metadata: { kind: 'note', title: 'Our first memory' },
  })
  return seeOther(`/entries/${Number(id)}`)
}
