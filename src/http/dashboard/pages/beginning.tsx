import type { Child } from 'hono/jsx'
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
          <p>{accessOf(visit)}</p>
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

/** The first steps, each done or not by what the visitor may see. */
export interface StepsDone {
  readonly connect: boolean
  readonly store: boolean
  readonly recall: boolean
  readonly capture: boolean
}

interface Step {
  readonly isDone: boolean
  readonly title: string
  /** How the step is done. */
  readonly children: Child
}

const RECALL = 'What do we know about deployments? Search our memory first.'

function stepsOf(visit: Visit, done: StepsDone): Step[] {
  const { origin } = visit.url
  const open = visit.config.authMode === 'open'
  return [
    {
      isDone: done.connect,
      title: 'Connect a client',
      children: (
        <>
          <p>{accessOf(visit)}</p>
          <Clients of={{ origin, open, key: null }} />
        </>
      ),
    },
    {
      isDone: done.store,
      title: 'Store a first memory',
      children: (
        <>
          <p>Ask an agent to remember something, for example:</p>
          <Copyable
            text="Remember for the team: we deploy on Tuesdays, and never without a rollback plan."
            label="Request to an agent"
          />
          {hasRole(visit, 'writer') ? (
            <PostForm action="/first-memory" token={visit.formToken}>
              <button type="submit">Store a first memory here</button>
            </PostForm>
          ) : (
            <p>This key is read-only. Use a writer key to store the first memory.</p>
          )}
        </>
      ),
    },
    {
      isDone: done.recall,
      title: 'Let an agent recall a memory',
      children: (
        <>
          <p>Ask an agent:</p>
          <Copyable text={RECALL} label="Question to an agent" />
        </>
      ),
    },
    ...(visit.config.captureDays === 0
      ? []
      : [
          {
            isDone: done.capture,
            title: 'Capture sessions',
            children: (
              <>
                <p>Hooks of a client record its sessions. Only you can see a session until you approve it.</p>
                <Copyable
                  text={`npx commonplace-mcp setup claude-code --capture --url ${origin}`}
                  label="Command that installs the hooks of Claude Code"
                />
              </>
            ),
          },
        ]),
  ]
}

/** How clients reach the server. */
const accessOf = ({ url, config, oauth }: Visit) => (
  <>
    The address of the server is <code>{endpointOf(url.origin)}</code>.{' '}
    {config.authMode === 'open'
      ? 'Programs on this computer can call it without a key.'
      : oauth
        ? 'Clients that support OAuth need only the address; others also need a key.'
        : 'Every client needs a key.'}
  </>
)

const doneOf = (steps: readonly Step[]): string => `${steps.filter(({ isDone }) => isDone).length} of ${steps.length}`

/** The first steps over the overview of a small store, until all are done or the visitor hides them. */
export const Setup = ({ visit, done, stored }: { visit: Visit; done: StepsDone; stored: number }) => {
  const steps = stepsOf(visit, done)
  if (visit.preferences.isSetupHidden || stored > BEGINNING || steps.every(({ isDone }) => isDone)) return null
  return (
    <section class="card">
      <div class="card-head">
        <h2>First steps: {doneOf(steps)} done</h2>
        <PostForm action="/preferences" token={visit.formToken}>
          <button type="submit" class="small plain" name="setup" value="hidden">
            Hide
          </button>
        </PostForm>
      </div>
      <ol class="checklist">
        {steps.map(({ isDone, title, children }) => (
          <li class={isDone ? 'done' : undefined}>
            {isDone ? (
              <p>
                {title}
                <span class="hidden">: done</span>
              </p>
            ) : (
              <details>
                <summary>
                  {title}
                  <span class="hidden">: to do</span>
                </summary>
                <div class="stack">{children}</div>
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Replaces the overview while no memory is stored: an introduction and the first steps. */
export const EmptyOverview = ({ visit, done }: { visit: Visit; done: StepsDone }) => {
  const steps = stepsOf(visit, done)
  return (
    <>
      <div class="head">
        <h1>A memory for your agents</h1>
        <p>
          Agents that connect here remember decisions, conventions and mistakes for each other, and you see all of it on
          these pages. {doneOf(steps)} steps done; each is ticked when the server notices it.
        </p>
      </div>
      <ol class="steps">
        {steps.map(({ isDone, title, children }) => (
          <li class={isDone ? 'card done' : 'card'}>
            <h2>
              {title}
              {isDone ? <span class="hidden">: done</span> : null}
            </h2>
            {isDone ? null : children}
          </li>
        ))}
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
