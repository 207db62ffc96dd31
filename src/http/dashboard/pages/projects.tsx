import type { Millis } from '../../../domain/time'
import type { LikelyFork, ListedProject, ProjectChange } from '../../../services/people/projects'
import { type Page, seeOther } from '../page'
import { Name, Nothing, ProjectLink, Time } from '../parts/common'
import { Field, PostForm } from '../parts/form'
import { withQuery } from '../parts/words'
import { sent, type Visit } from '../visit'
import { type Administering, administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'

/** Manages projects of an organization and their names; for the holder of ADMIN_TOKEN also organizations. */
const MOST_CHANGES = 20
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

const Row = ({ of: project, now, isLinked }: { of: ListedProject; now: Millis; isLinked: boolean }) => {
  const { key, name, aliases, homes, entries, lastUse } = project
  const others = [...new Set([name, ...homes, ...aliases.map((alias) => alias.name)])].filter((one) => one !== key)
  return (
    <tr>
      <th scope="row">{isLinked ? <ProjectLink project={key} /> : <Name>{key}</Name>}</th>
      <td>
        <Names names={others} />
      </td>
      <td class="num">{entries}</td>
      <td class="num soft">{lastUse === null ? 'never' : <Time at={lastUse} now={now} />}</td>
    </tr>
  )
}

const Table = ({ rows, now, isLinked }: { rows: readonly ListedProject[]; now: Millis; isLinked: boolean }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Project</th>
        <th scope="col">Names</th>
        <th scope="col" class="num">
          Memories
        </th>
        <th scope="col" class="num">
          Last use
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <Row of={row} now={now} isLinked={isLinked} />
      ))}
    </tbody>
  </table>
)

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
                  <Name>{key}</Name> ({entries}) and <Name>{into}</Name>: {reason}
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
  if (action === 'rename') return `${project} called ${is}`
  if (action === 'attach') return `${name} became a name of ${project}`
  if (action === 'undo') return `change ${change} undone`
  return `${project} named first`
}

const UNDOABLE: readonly ProjectChange['action'][] = ['attach', 'rename', 'merge', 'split']

const Changes = ({ changes, now, sending }: { changes: readonly ProjectChange[]; now: Millis; sending: Sending }) => (
  <section class="card">
    <h2>Name changes</h2>
    <ul class="plain">
      {changes.map((one) => (
        <li>
          <PostForm action="/projects/undo" token={sending.token} class="bar-form">
            <OrgField by={sending.by} org={sending.org} />
            <input type="hidden" name="change" value={String(one.seq)} />
            <span>
              {one.seq}: <Name>{changed(one)}</Name> <Time at={one.at} now={now} />
              {one.undoneBy === null ? '' : `, undone by ${one.undoneBy}`}
            </span>
            {one.undoneBy === null && UNDOABLE.includes(one.action) ? <button type="submit">Undo</button> : null}
          </PostForm>
        </li>
      ))}
    </ul>
  </section>
)

const Forms = ({ sending }: { sending: Sending }) => (
  <>
    <PostForm action="/projects/rename" token={sending.token} class="card stack-form">
      <h2>Rename a project</h2>
      <OrgField by={sending.by} org={sending.org} />
      <div class="fields">
        <Field name="project" id="rename-project" label="Project" required />
        <Field name="name" id="rename-name" label="Name" required />
      </div>
      <p>
        <button type="submit">Rename</button>
      </p>
    </PostForm>
    <PostForm action="/projects/merge" token={sending.token} class="card stack-form">
      <h2>Merge two projects</h2>
      <OrgField by={sending.by} org={sending.org} />
      <div class="fields">
        <Field name="from" label="This project" hint="From then on, its names refer to the other project" required />
        <Field name="into" label="Into this one" required />
      </div>
      <p>
        <button type="submit">Merge</button>
      </p>
    </PostForm>
    <PostForm action="/projects/split" token={sending.token} class="card stack-form">
      <h2>Split off a name</h2>
      <OrgField by={sending.by} org={sending.org} />
      <div class="fields">
        <Field
          name="name"
          id="split-name"
          label="Name"
          hint="A merged project, or a name that belongs to another project"
          required
        />
      </div>
      <p>
        <button type="submit">Split</button>
      </p>
    </PostForm>
    <PostForm action="/projects" token={sending.token} class="card stack-form">
      <h2>Make a project</h2>
      <OrgField by={sending.by} org={sending.org} />
      <div class="fields">
        <Field name="id" label="Id" hint="The name that clients use, such as github.com/acme/ferry" required />
        <Field name="name" label="Name" />
      </div>
      <p>
        <button type="submit" class="main">
          Make it
        </button>
      </p>
    </PostForm>
  </>
)

const Orgs = ({ visit }: { visit: Visit }) => (
  <PostForm action="/organizations" token={visit.formToken} class="card stack-form">
    <h2>Make an organization</h2>
    <div class="fields">
      <Field name="id" label="Id" hint="Letters a–z, digits, “.”, “_” and “-”" required />
      <Field name="name" label="Name of the organization" />
    </div>
    <p>
      <button type="submit">Make it</button>
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

export async function projects(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'projects.list')
  const now = visit.services.now()
  const [orgs, { rows, forks, changes }] = await Promise.all([orgsFor(visit, by), read(visit, { by, org })])
  const sending = org === null ? null : { by, org, token: visit.formToken }
  const isWhole = by.kind === 'operator' || by.caller.projects === null
  return {
    title: 'Projects',
    at: '/projects',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Projects</h1>
          <p>A project exists from its first memory on. All its names refer to the same memories.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/projects" orgs={orgs} org={org} /> : null}
        {sending === null ? null : (
          <>
            <section class="card scroll">
              {rows.length > 0 ? (
                <Table rows={rows} now={now} isLinked={by.kind === 'key'} />
              ) : (
                <Nothing title="No projects yet">
                  <p>
                    The first memory of a project creates it. Hooks name a project after the repository that they run
                    in.
                  </p>
                </Nothing>
              )}
            </section>
            {forks.length === 0 ? null : <Forks forks={forks} sending={sending} />}
            {changes.length === 0 ? null : <Changes changes={changes} now={now} sending={sending} />}
            {isWhole ? <Forms sending={sending} /> : null}
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

export async function makeProject(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'projects.create')
  await visit.services.administration.createProject(by, org, draftOf(visit))
  return seeOther(withQuery('/projects', { org: by.kind === 'operator' ? org : null }))
}

/** Changes names, and redirects to the list. */
export const changeProjects =
  (verb: 'rename' | 'merge' | 'split' | 'undo') =>
  async (visit: Visit): Promise<Response> => {
    const { by, org } = await administeringOne(visit, `projects.${verb}`)
    const actor = await visit.services.administration.wholeActor(by, org)
    const given = Object.fromEntries(
      ['project', 'name', 'from', 'into', 'change'].map((name) => [name, sent(visit, name) ?? undefined]),
    )
    await visit.services.projects[verb](actor, given)
    return seeOther(withQuery('/projects', { org: by.kind === 'operator' ? org : null }))
  }

export async function makeOrg(visit: Visit): Promise<Response> {
  const { by } = await administering(visit, 'orgs.create')
  const { id } = await visit.services.administration.createOrg(by, draftOf(visit))
  return seeOther(withQuery('/keys', { org: id }))
}
