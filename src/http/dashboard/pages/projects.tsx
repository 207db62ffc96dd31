import type { Millis } from '../../../domain/time'
import type { LikelyFork, ListedProject, ProjectChange } from '../../../services/people/projects'
import { type Page, seeOther } from '../page'
import { Name, Note, Nothing, ProjectLink, Time } from '../parts/common'
import { errorsAt, Field, type FieldErrors, PostForm } from '../parts/form'
import { Head, sortOf } from '../parts/table-head'
import { Toast } from '../parts/toast'
import { count, plural, withQuery } from '../parts/words'
import { queryParameter, sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'

/** Manages projects of an organization and their names; for the holder of ADMIN_TOKEN also organizations. */
const MOST_CHANGES = 20
/** Projects shown at once. */
const MOST_ROWS = 100
/** Names shown per row. */
const SHOWN_NAMES = 6

const Names = ({ names }: { names: readonly string[] }) => (
  <>
    {names.slice(0, SHOWN_NAMES).map((name, i) => (
      <>
        {i > 0 ? ', ' : ''}
        <Name>{name}</Name>
      </>
    ))}
    {names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : ''}
  </>
)

const SORTS = ['used', 'name', 'entries'] as const
type Sort = (typeof SORTS)[number]

/** Number of projects from which the list has a filter. */
const FILTERED = 8

interface RowsProps {
  readonly visit: Visit
  readonly rows: readonly ListedProject[]
  readonly sending: Sending
  readonly isWhole: boolean
}

const namesOf = ({ key, name, aliases, homes }: ListedProject): string[] =>
  [...new Set([name, ...homes, ...aliases.map((alias) => alias.name)])].filter((one) => one !== key)

/** Rename and merge, in the row of the project. */
const Actions = ({
  of: { key, name },
  others,
  sending,
}: {
  of: ListedProject
  others: readonly string[]
  sending: Sending
}) => {
  const id = `p-${key.replaceAll(/[^\w-]/g, '-')}`
  return (
    <details class="row-actions">
      <summary>
        Manage<span class="hidden"> {key}</span>
      </summary>
      <PostForm action="/projects/rename" token={sending.token} class="stack-form more">
        <OrgField by={sending.by} org={sending.org} />
        <input type="hidden" name="project" value={key} />
        <Field name="name" id={`${id}-name`} label="Name" value={name} required />
        <p>
          <button type="submit" class="small">
            Rename
          </button>
        </p>
      </PostForm>
      {others.length === 0 ? null : (
        <PostForm action="/projects/merge" token={sending.token} class="stack-form more">
          <OrgField by={sending.by} org={sending.org} />
          <input type="hidden" name="from" value={key} />
          <Field
            name="into"
            id={`${id}-into`}
            label="Merge into"
            list="projects"
            required
            hint="Its names then refer to that project. You can undo this."
          />
          <p>
            <button type="submit" class="small">
              Merge
            </button>
          </p>
        </PostForm>
      )}
    </details>
  )
}

function Row({
  of,
  visit,
  others,
  sending,
  isWhole,
}: { of: ListedProject; others: readonly string[] } & Omit<RowsProps, 'rows'>) {
  const { key, entries, lastUse } = of
  const now = visit.services.now()
  const isLinked = sending.by.kind === 'key'
  return (
    <tr data-row>
      <th scope="row">
        {isLinked ? <ProjectLink project={key} /> : <Name>{key}</Name>}
        {namesOf(of).length === 0 ? null : (
          <>
            <br />
            <span class="soft">
              <Names names={namesOf(of)} />
            </span>
          </>
        )}
      </th>
      <td class="num" data-label="Memories">
        {count(entries)}
      </td>
      <td class="num soft" data-label="Last use">
        {lastUse === null ? 'never' : <Time at={lastUse} now={now} />}
      </td>
      <td class="row-end">
        <div>
          {isLinked ? <a href={withQuery('/activity', { project: key })}>Activity</a> : null}
          {isWhole ? <Actions of={of} others={others.filter((one) => one !== key)} sending={sending} /> : null}
        </div>
      </td>
    </tr>
  )
}

function Table({ rows, ...rest }: RowsProps) {
  const { url } = rest.visit
  const sort = sortOf(url, SORTS)
  const wanted = queryParameter(rest.visit, 'text')?.trim().toLowerCase() ?? ''
  const by: Readonly<Record<Sort, (a: ListedProject, b: ListedProject) => number>> = {
    used: (a, b) => (b.lastUse ?? 0) - (a.lastUse ?? 0),
    name: (a, b) => a.key.localeCompare(b.key, 'en'),
    entries: (a, b) => b.entries - a.entries,
  }
  const all = rows.map(({ key }) => key)
  const found = rows
    .filter((one) => [one.key, ...namesOf(one)].some((name) => name.toLowerCase().includes(wanted)))
    .toSorted(by[sort])
  const shown = found.slice(0, MOST_ROWS)
  const columns = [
    { name: 'Project', sort: 'name' },
    { name: 'Memories', sort: 'entries', isNumber: true },
    { name: 'Last use', sort: 'used', isNumber: true },
    { name: 'Actions', isHidden: true },
  ]
  return (
    <>
      {rows.length < FILTERED ? null : (
        <search>
          <form method="get" action="/projects" class="bar-form">
            {rest.sending.by.kind === 'operator' ? <input type="hidden" name="org" value={rest.sending.org} /> : null}
            <Field name="text" label="Name contains" value={queryParameter(rest.visit, 'text')} />
            <button type="submit">Filter</button>
          </form>
        </search>
      )}
      <section class="card scroll records stacked" id="list" tabindex={0} aria-label="Projects">
        {shown.length > 0 ? (
          <table>
            <Head url={url} columns={columns} sort={sort} />
            <tbody>
              {shown.map((row) => (
                <Row of={row} others={all} {...rest} />
              ))}
            </tbody>
          </table>
        ) : (
          <Nothing title="No project has this in its name" />
        )}
        {found.length > shown.length ? (
          <p class="hint more">
            The first {shown.length} of {count(found.length)} projects. Filter the list to see others.
          </p>
        ) : null}
      </section>
      <datalist id="projects">
        {all.slice(0, MOST_ROWS).map((key) => (
          <option value={key} />
        ))}
      </datalist>
    </>
  )
}

/** Reports a change of names, with its undo. */
function Done({ visit, sending }: { visit: Visit; sending: Sending }) {
  const [done, change] = [queryParameter(visit, 'done'), queryParameter(visit, 'change')]
  const words = DONE[done ?? '']
  if (words === undefined) return null
  return (
    <Toast>
      <span>{words}</span>
      {change === null || !/^\d{1,15}$/.test(change) || done === 'undo' ? null : (
        <PostForm action="/projects/undo" token={sending.token}>
          <OrgField by={sending.by} org={sending.org} />
          <input type="hidden" name="change" value={change} />
          <button type="submit" class="small">
            Undo
          </button>
        </PostForm>
      )}
    </Toast>
  )
}

const DONE: Readonly<Record<string, string>> = {
  rename: 'The project is renamed.',
  merge: 'The projects are merged.',
  split: 'The name is a project of its own.',
  undo: 'The change is undone.',
  made: 'The project exists.',
}

/** Addresses of the forms, and their hidden fields. */
interface Sending extends Administering {
  readonly org: string
  readonly token: string
}

const Forks = ({ forks, sending }: { forks: readonly LikelyFork[]; sending: Sending }) => (
  <section class="card">
    <h2>Probably the same project</h2>
    <p class="soft">Projects are never merged automatically. A merge changes no memory and can be undone.</p>
    <ul class="plain">
      {forks.flatMap(({ reason, projects, into }) =>
        projects
          .filter(({ key }) => key !== into)
          .map(({ key, entries }) => (
            <li>
              <PostForm action="/projects/merge" token={sending.token} class="bar-form">
                <OrgField by={sending.by} org={sending.org} />
                <input type="hidden" name="from" value={key} />
                <input type="hidden" name="into" value={into} />
                <span>
                  <Name>{key}</Name> ({plural(entries, 'memory', 'memories')}) and <Name>{into}</Name>: {reason}
                </span>
                <button type="submit">Merge</button>
              </PostForm>
            </li>
          )),
      )}
    </ul>
  </section>
)

const changed = ({ action, detail: { project, name, from, is, change } }: ProjectChange): string => {
  if (action === 'merge') return `${from} merged into ${project}`
  if (action === 'split') return `${name ?? project} split from ${from}`
  if (action === 'rename') return `${project} renamed to ${is}`
  if (action === 'attach') return `${name} became a name of ${project}`
  if (action === 'undo') return `change ${change} undone`
  return `${project} created`
}

const UNDOABLE: readonly ProjectChange['action'][] = ['attach', 'rename', 'merge', 'split']

const Changes = ({ changes, now, sending }: { changes: readonly ProjectChange[]; now: Millis; sending: Sending }) => (
  <section class="card">
    <h2>History</h2>
    <ul class="plain lined">
      {changes.map((one) => (
        <li>
          <PostForm action="/projects/undo" token={sending.token} class="setting">
            <OrgField by={sending.by} org={sending.org} />
            <input type="hidden" name="change" value={String(one.seq)} />
            <span>
              <Name>{changed(one)}</Name>{' '}
              <span class="soft">
                <Time at={one.at} now={now} /> · change {one.seq}
                {one.undoneBy === null ? '' : `, undone by change ${one.undoneBy}`}
              </span>
            </span>
            {one.undoneBy === null && UNDOABLE.includes(one.action) ? (
              <button type="submit" class="small">
                Undo
              </button>
            ) : null}
          </PostForm>
        </li>
      ))}
    </ul>
  </section>
)

interface FormsProps {
  readonly visit: Visit
  readonly sending: Sending
  /** The form that was refused, and why. */
  readonly refused: { readonly verb: string; readonly errors: FieldErrors } | null
}

/** Forms for names that no row shows. A refused form has the values that were sent. */
const Forms = ({ visit, sending, refused }: FormsProps) => {
  const value = (verb: string, name: string) => (refused?.verb === verb ? sent(visit, name) : null)
  const error = (verb: string, name: string) => (refused?.verb === verb ? refused.errors.get(name) : undefined)
  return (
    <>
      <PostForm action="/projects" token={sending.token} class="card stack-form">
        <h2>New project</h2>
        <OrgField by={sending.by} org={sending.org} />
        <div class="fields">
          <Field
            name="id"
            label="ID"
            hint="The name that clients use, such as github.com/acme/ferry"
            required
            value={value('make', 'id')}
            error={error('make', 'id')}
          />
          <Field name="name" label="Display name" value={value('make', 'name')} error={error('make', 'name')} />
        </div>
        <p>
          <button type="submit" class="main">
            Create project
          </button>
        </p>
      </PostForm>
      <details class="card" open={refused !== null && refused.verb !== 'make'}>
        <summary>Rename, merge or split by name</summary>
        <PostForm action="/projects/rename" token={sending.token} class="stack-form more">
          <h2>Rename a project</h2>
          <OrgField by={sending.by} org={sending.org} />
          <div class="fields">
            <Field
              name="project"
              id="rename-project"
              label="Project"
              list="projects"
              required
              value={value('rename', 'project')}
              error={error('rename', 'project')}
            />
            <Field
              name="name"
              id="rename-name"
              label="New name"
              required
              value={value('rename', 'name')}
              error={error('rename', 'name')}
            />
          </div>
          <p>
            <button type="submit">Rename</button>
          </p>
        </PostForm>
        <PostForm action="/projects/merge" token={sending.token} class="stack-form more">
          <h2>Merge two projects</h2>
          <OrgField by={sending.by} org={sending.org} />
          <div class="fields">
            <Field
              name="from"
              label="This project"
              hint="From then on, its names refer to the other project"
              list="projects"
              required
              value={value('merge', 'from')}
              error={error('merge', 'from')}
            />
            <Field
              name="into"
              label="Into this one"
              list="projects"
              required
              value={value('merge', 'into')}
              error={error('merge', 'into')}
            />
          </div>
          <p>
            <button type="submit">Merge</button>
          </p>
        </PostForm>
        <PostForm action="/projects/split" token={sending.token} class="stack-form more">
          <h2>Split off a name</h2>
          <OrgField by={sending.by} org={sending.org} />
          <div class="fields">
            <Field
              name="name"
              id="split-name"
              label="Name"
              hint="A merged project, or a name that belongs to another project"
              required
              value={value('split', 'name')}
              error={error('split', 'name')}
            />
          </div>
          <p>
            <button type="submit">Split</button>
          </p>
        </PostForm>
      </details>
    </>
  )
}

const Orgs = ({ visit }: { visit: Visit }) => (
  <PostForm action="/organizations" token={visit.formToken} class="card stack-form">
    <h2>New organization</h2>
    <div class="fields">
      <Field name="id" label="ID" hint="Letters a–z, digits, “.”, “_” and “-”" required />
      <Field name="name" label="Name of the organization" />
    </div>
    <p>
      <button type="submit">Create organization</button>
    </p>
  </PostForm>
)

/** Lists the projects that the administrator sees; for an administrator of all projects also likely duplicates and changes. */
async function read(visit: Visit, { by, org }: Administering) {
  const { administration, projects: service } = visit.services
  if (org === null) return { rows: [], forks: [], changes: [] }
  const scope = await administration.reach(by, org)
  const seesAll = scope.projects === null
  const [rows, changes] = await Promise.all([
    service.all(scope),
    seesAll ? service.changes(org, { before: null, limit: MOST_CHANGES }) : [],
  ])
  if (!seesAll) return { rows, forks: [], changes: [] }
  return { rows, forks: await service.likelyForks(rows), changes }
}

type Refused = FormsProps['refused']

export async function projects(visit: Visit, refused: Refused = null): Promise<Page> {
  const { by, org } = await administering(visit, 'projects.list')
  const now = visit.services.now()
  const [orgs, { rows, forks, changes }] = await Promise.all([orgsFor(visit, by), read(visit, { by, org })])
  const sending = org === null ? null : { by, org, token: visit.formToken }
  const isWhole = by.kind === 'operator' || by.caller.projects === null
  return {
    title: 'Projects',
    at: '/projects',
    ...(rows.length > 0 ? { list: 'Skip to the projects' } : {}),
    body: (
      <div class="stack">
        {sending === null ? null : <Done visit={visit} sending={sending} />}
        {refused === null ? null : <Note bad>Nothing was changed. {[...refused.errors.values()][0]}</Note>}
        <div class="head">
          <h1>Projects</h1>
          <p>The first memory of a project creates it. A project can have several names.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/projects" orgs={orgs} org={org} /> : null}
        {sending === null ? null : (
          <>
            {rows.length > 0 ? (
              <Table visit={visit} rows={rows} sending={sending} isWhole={isWhole} />
            ) : (
              <section class="card">
                <Nothing title="No projects yet">
                  <p>
                    The first memory of a project creates it. Hooks name a project after the repository that they run
                    in.
                  </p>
                </Nothing>
              </section>
            )}
            {forks.length === 0 ? null : <Forks forks={forks} sending={sending} />}
            {changes.length === 0 ? null : <Changes changes={changes} now={now} sending={sending} />}
            {isWhole ? <Forms visit={visit} sending={sending} refused={refused} /> : null}
          </>
        )}
        {by.kind === 'operator' ? <Orgs visit={visit} /> : null}
      </div>
    ),
  }
}

const draftOf = (visit: Visit) => {
  const name = sent(visit, 'name')
  return { id: sent(visit, 'id') ?? '', ...(name === null ? {} : { name }) }
}

/** Shows the page again after a refusal, with the error at its field. */
async function again(visit: Visit, verb: string, fields: readonly string[], error: unknown): Promise<Page> {
  const { errors, status } = errorsAt(error, fields)
  return { ...(await projects(visit, { verb, errors })), status }
}

export async function makeProject(visit: Visit): Promise<Page | Response> {
  const { by, org } = await administeringOne(visit, 'projects.create')
  try {
    await visit.services.administration.createProject(by, org, draftOf(visit))
  } catch (error) {
    return again(visit, 'make', ['id', 'name'], error)
  }
  return seeOther(withQuery('/projects', { org: by.kind === 'operator' ? org : null, done: 'made' }))
}

const FIELDS = {
  rename: ['name', 'project'],
  merge: ['into', 'from'],
  split: ['name'],
  undo: ['change'],
} as const

/** Changes names, and redirects to the list. */
export const changeProjects =
  (verb: keyof typeof FIELDS) =>
  async (visit: Visit): Promise<Page | Response> => {
    const { by, org } = await administeringOne(visit, `projects.${verb}`)
    const actor = await visit.services.administration.wholeActor(by, org)
    const given = Object.fromEntries(
      ['project', 'name', 'from', 'into', 'change'].map((name) => [name, sent(visit, name) ?? undefined]),
    )
    try {
      const { change } = await visit.services.projects[verb](actor, given)
      return seeOther(withQuery('/projects', { org: by.kind === 'operator' ? org : null, done: verb, change }))
    } catch (error) {
      return again(visit, verb, FIELDS[verb], error)
    }
  }

export async function makeOrg(visit: Visit): Promise<Response> {
  const { by } = await administering(visit, 'orgs.create')
  const { id } = await visit.services.administration.createOrg(by, draftOf(visit))
  return seeOther(withQuery('/keys', { org: id }))
}
