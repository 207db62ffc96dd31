import type { Project } from '../../../domain/identity/identity'
import type { Millis } from '../../../domain/time'
import { type Page, seeOther } from '../page'
import { withQuery } from '../parts/addresses'
import { Name, Nothing, ProjectLink, Time } from '../parts/common'
import { Field, PostForm } from '../parts/form'
import { sent, type Visit } from '../visit'
import { administering, administeringOne, OrgChoice, OrgField, orgsFor } from './administering'

/** Projects of an organization; for the holder of ADMIN_TOKEN organizations too. */
const Row = ({ of: { id, name, createdAt }, now, isLinked }: { of: Project; now: Millis; isLinked: boolean }) => (
  <tr>
    <th scope="row">{isLinked ? <ProjectLink project={id} /> : <Name>{id}</Name>}</th>
    <td>
      <Name>{name}</Name>
    </td>
    <td class="num soft">{createdAt === null ? 'by its memories' : <Time at={createdAt} now={now} />}</td>
  </tr>
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

export async function projects(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'projects.list')
  const { administration, now } = visit.services
  const [orgs, rows] = await Promise.all([orgsFor(visit, by), org === null ? [] : administration.projects(by, org)])
  return {
    title: 'Projects',
    at: '/projects',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Projects</h1>
          <p>A project exists from its first memory on. One that is made here can be named in keys before that.</p>
        </div>
        {by.kind === 'operator' ? <OrgChoice action="/projects" orgs={orgs} org={org} /> : null}
        {org === null ? null : (
          <>
            <section class="card scroll">
              {rows.length > 0 ? (
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Project</th>
                      <th scope="col">Name</th>
                      <th scope="col" class="num">
                        Made
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((row) => (
                      <Row of={row} now={now()} isLinked={by.kind === 'key'} />
                    ))}
                  </tbody>
                </table>
              ) : (
                <Nothing title="No projects yet">
                  <p>The first memory of a project makes it; hooks name one after the repository that they run in.</p>
                </Nothing>
              )}
            </section>
            <PostForm action="/projects" token={visit.formToken} class="card stack-form">
              <h2>Make a project</h2>
              <OrgField by={by} org={org} />
              <div class="fields">
                <Field name="id" label="Id" hint="As clients name it, such as github.com/acme/ferry" required />
                <Field name="name" label="Name" />
              </div>
              <p>
                <button type="submit" class="main">
                  Make it
                </button>
              </p>
            </PostForm>
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

export async function makeOrg(visit: Visit): Promise<Response> {
  const { by } = await administering(visit, 'orgs.create')
  const { id } = await visit.services.administration.createOrg(by, draftOf(visit))
  return seeOther(withQuery('/keys', { org: id }))
}
