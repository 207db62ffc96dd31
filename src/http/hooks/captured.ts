import { Hono } from 'hono'
import { invalidInput, notFound, Problem } from '../../domain/errors'
import { checkProjectId } from '../../domain/identity/identity'
import type { Caller, Role } from '../../domain/identity/scope'
import type { Services } from '../../services/services'
import { type Credential, requireOrg, requireRole } from '../auth'

/** What was captured, for whoever looks through it (capture contract §4, §5): `/api/v1/orgs/:org/captured`. */

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

export function createCapturedRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Runs what the key may do in its own org; a denial is noted on its way out. */
  async function run<T>(
    { services, credential }: Variables,
    org: string,
    action: string,
    role: Role,
    step: (caller: Caller) => Promise<T>,
  ): Promise<T> {
    const principal = requireOrg(credential)
    // Another org and one that never was get the same words.
    if (org !== '-' && org !== principal.org) throw notFound('No such organization for this credential')
    const caller: Caller = { ...principal, action, tool: null, changeId: services.ids.next() }
    try {
      requireRole(caller, role)
      return await step(caller)
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden')
        await services.administration.note(caller, false, { denied: 1 })
      throw error
    }
  }

  routes.delete('/:org/captured', async (c) => {
    const erased = await run(c.var, c.req.param('org'), 'captured.erase', 'writer', async (caller) => {
      const given = c.req.query('project')
      if (given === undefined)
        throw invalidInput('project is required: name the project whose captured sessions are erased')
      const project = checkProjectId(given, 'project')
      if (caller.projects !== null && !caller.projects.includes(project))
        throw new Problem('forbidden', `Project access denied: ${project}`)
      return c.var.services.capture.erase(caller, project)
    })
    return c.json({ erased })
  })

  return routes
}
