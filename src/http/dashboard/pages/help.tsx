import { ABOUT } from '../../../domain/about'
import { type Page, seeOther } from '../page'
import { PostForm } from '../parts/form'
import { preferenceCookies } from '../preferences'
import type { Visit } from '../visit'

/** Keys of the dashboard, the setting that switches them off, and where to read more. */

type Keys = readonly (readonly [keys: readonly string[], does: string])[]

const EVERYWHERE: Keys = [
  [['Ctrl K', '⌘ K'], 'Open the command palette: pages, memories, threads, projects, actions'],
  [['/'], 'Go to the search field'],
  [['?'], 'Show these keys'],
]
const LISTS: Keys = [
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['e'], 'Edit the memory of the row, or the memory of the page'],
  [['x'], 'Select the row, where rows can be selected'],
]
const REVIEW: Keys = [
  [['1', '6'], 'Choose the kind'],
  [['a'], 'Approve'],
  [['m'], 'Merge into a memory'],
  [['d'], 'Drop'],
  [['l'], 'Later'],
  [['u'], 'Undo'],
]
const STALE: Keys = [
  [['r'], 'The later memory replaces the earlier one'],
  [['b'], 'Both hold'],
  [['m'], 'Merge both'],
]

const Group = ({ title, keys, between = 'or' }: { title: string; keys: Keys; between?: string }) => (
  <section>
    <h3>{title}</h3>
    <dl class="keys-list">
      {keys.map(([names, does]) => (
        <div>
          <dt>
            {names.map((name, i) => (
              <>
                {i === 0 ? null : ` ${/\d/.test(name) ? 'to' : between} `}
                <kbd>{name}</kbd>
              </>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </section>
)

const Shortcuts = ({ visit: { formToken, preferences } }: { visit: Visit }) => (
  <section class="card" id="keys">
    <h2>Keyboard shortcuts</h2>
    <PostForm action="/preferences" token={formToken} class="setting more">
      <input type="hidden" name="shortcuts" value={preferences.hasShortcuts ? 'off' : 'on'} />
      <p>
        Single keys are <strong>{preferences.hasShortcuts ? 'on' : 'off'}</strong>.{' '}
        <span class="soft">Switch them off if you speak to your computer. Ctrl K always works.</span>
      </p>
      <button type="submit" class="small">
        {preferences.hasShortcuts ? 'Switch off' : 'Switch on'}
      </button>
    </PostForm>
    <div class="keys">
      <Group title="Everywhere" keys={EVERYWHERE} />
      <Group title="In lists" keys={LISTS} />
      <Group title="On Review" keys={REVIEW} />
      <Group title="On Outdated?" keys={STALE} />
    </div>
  </section>
)

export async function help(visit: Visit): Promise<Page> {
  return {
    title: 'Help',
    at: '/help',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Help</h1>
          <p>Commonplace {ABOUT.version}, a shared memory for agents.</p>
        </div>
        <Shortcuts visit={visit} />
        <section class="card">
          <h2>Where to find things</h2>
          <dl class="facts-list more">
            <div>
              <dt>Search</dt>
              <dd>What agents find, with filters. Save a search as a view, or keep its address.</dd>
            </div>
            <div>
              <dt>Pack</dt>
              <dd>The memories that an agent gets for a goal, and why.</dd>
            </div>
            <div>
              <dt>Review</dt>
              <dd>Sessions that plugins captured. Only you can see a session until you approve it.</dd>
            </div>
            <div>
              <dt>Outdated?</dt>
              <dd>Pairs of memories of which the later one may replace the earlier one.</dd>
            </div>
            <div>
              <dt>Connect</dt>
              <dd>
                The <a href="/connect">lines for each client</a>, and links that install them.
              </dd>
            </div>
          </dl>
        </section>
      </div>
    ),
  }
}

/** Stores the preferences of a form in the browser, and returns to the page that sent it. */
export async function storePreferences({ form, cameFrom }: Visit): Promise<Response> {
  const response = seeOther(cameFrom)
  for (const cookie of preferenceCookies(form)) response.headers.append('Set-Cookie', cookie)
  return response
}
