import { ROLES } from '../../../domain/identity/scope'
import type { Page } from '../page'
import { withQuery } from '../parts/addresses'
import { Copyable, Name, Note } from '../parts/common'
import { Clients } from '../parts/connect'
import { Choice, Field, PostForm } from '../parts/form'
import { sent, type Visit } from '../visit'
import { type Administering, administeringOne, OrgField } from './administering'

/** Makes a key and shows it once. */
export const Making = ({ visit, by, org }: { visit: Visit; by: Administering['by']; org: string }) => (
  <PostForm action="/keys" token={visit.formToken} class="card stack-form">
    <h2>Make a key</h2>
    <OrgField by={by} org={org} />
    <div class="fields">
      <Field name="name" label="Name" hint="The person or program that uses it" required />
      <Choice name="role" label="Role" value="writer" options={ROLES.map((role) => [role, role])} />
      <Field name="projects" label="Projects" hint="Separated by commas; empty for all" />
      <Field name="agent" label="Agent" hint="Stored with each memory that it writes" />
      <Field
        name="owner"
        label="Owner"
        hint="Person or agent whose private memories the key can see; empty for a new one"
      />
      <Field name="expires_at" label="Ends" type="date" />
    </div>
    <p>
      <button type="submit" class="main">
        Make it
      </button>
    </p>
  </PostForm>
)

/** Shows the key in the answer to the form; no address returns it again. */
export async function makeKey(visit: Visit): Promise<Page> {
  const { by, org } = await administeringOne(visit, 'keys.create')
  const projects = (sent(visit, 'projects') ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const { key, text } = await visit.services.administration.createKey(by, org, {
    name: sent(visit, 'name'),
    role: sent(visit, 'role'),
    projects: projects.length === 0 ? null : projects,
    ...{ agent: sent(visit, 'agent'), owner: sent(visit, 'owner'), expires_at: sent(visit, 'expires_at') },
  })
  return {
    title: 'A new key',
    at: '/keys',
    body: (
      <div class="stack">
        <div class="head">
          <h1>
            The key of <Name>{key.name}</Name>
          </h1>
        </div>
        <Note>Copy the key now: it is shown only once. Anyone who has it gets its role ({key.role}).</Note>
        <section class="card">
          <Copyable text={text} label="The key" />
        </section>
        <section class="card">
          <h2>Connect a client with it</h2>
          <Clients of={{ origin: visit.url.origin, open: false, key: text }} />
        </section>
        <p>
          <a href={withQuery('/keys', { org: by.kind === 'operator' ? org : null })}>All keys</a>
        </p>
      </div>
    ),
  }
}
