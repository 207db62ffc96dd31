import { storeContext } from '../../../tools/threads/store-context'
import { type Page, seeOther } from '../page'
import { Copyable } from '../parts/common'
import { Clients, endpointOf } from '../parts/connect'
import { PostForm } from '../parts/form'
import { callTool, hasRole, type Visit } from '../visit'

/** Lines that connect each client. */
export async function connect(visit: Visit): Promise<Page> {
  const { origin } = visit.url
  const isOpen = visit.config.authMode === 'open'
  return {
    title: 'Connect a client',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Connect a client</h1>
          <p>
            The address of the server is <code>{endpointOf(origin)}</code>.{' '}
            {isOpen
              ? 'Programs on this computer can call it without a key.'
              : visit.oauth
                ? 'Clients that support OAuth need only the address; others also need a key.'
                : 'Every client needs a key.'}
          </p>
        </div>
        <section class="card">
          <Clients of={{ origin, open: isOpen, key: null }} />
        </section>
      </div>
    ),
  }
}

/** Number of memories up to which the first steps are shown. */
const BEGINNING = 20

/** The first steps, each ticked by what the store holds. Hidden by its button, or once the store has grown. */
export const Setup = ({ visit, stored, isUsed }: { visit: Visit; stored: number; isUsed: boolean }) => {
  if (visit.preferences.isSetupHidden || stored > BEGINNING) return null
  const steps: readonly (readonly [isDone: boolean, label: string, at: string])[] = [
    [stored > 0, 'Store a first memory', '/'],
    [isUsed, 'Let a session use a memory', '/pack'],
  ]
  return (
    <section class="card" data-setup>
      <div class="card-head">
        <h2>First steps</h2>
        <PostForm action="/preferences" token={visit.formToken}>
          <button type="submit" class="small plain" name="setup" value="hidden">
            Hide
          </button>
        </PostForm>
      </div>
      <ul class="attention">
        {steps.map(([isDone, label, at]) => (
          <li>
            <span>
              {isDone ? '✓' : '○'} {label}
              <span class="hidden">{isDone ? ': done' : ': to do'}</span>
            </span>
            {isDone ? null : <a href={at}>Open</a>}
          </li>
        ))}
        <li>
          <span>More clients read and write the same memory</span>
          <a href="/connect">Connect</a>
        </li>
      </ul>
    </section>
  )
}

/** Replaces the overview while no memory is stored: an introduction and three steps. */
export const EmptyOverview = ({ visit }: { visit: Visit }) => {
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
              ? 'Programs on this computer can call it without a key.'
              : visit.oauth
                ? 'Clients that support OAuth need only the address; others also need a key.'
                : 'Every client needs a key.'}
          </p>
          <Clients of={{ origin, open, key: null }} />
        </li>
        <li class="card">
          <h2>Ask an agent to remember something</h2>
          <p>For example:</p>
          <Copyable
            text="Remember for the team: we deploy on Tuesdays, and never without a rollback plan."
            label="Request to an agent"
          />
        </li>
        <li class="card">
          <h2>Or start here</h2>
          {hasRole(visit, 'writer') ? (
            <PostForm action="/first-memory" token={visit.formToken}>
              <button type="submit" class="main">
                Store a first memory
              </button>
            </PostForm>
          ) : (
            <p>This key is read-only. Use a writer key to store the first memory.</p>
          )}
        </li>
      </ol>
    </>
  )
}

/** The form for a first memory. */
const FIRST = `This memory was stored from the dashboard. Agents that connect to this server read it, and write their own beside it:
decisions, conventions, what went wrong and how it was fixed.`

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
