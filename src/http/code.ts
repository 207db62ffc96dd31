import { Hono } from 'hono'
import type { IndexStatus } from '../domain/code/status'
import { invalidInput, Problem } from '../domain/errors'
import type { Actor, Role } from '../domain/identity/scope'
import type { Millis } from '../domain/time'
import type { Services } from '../services/services'
import type { IndexReport, SentFile } from '../services/writing/code/index-code'
import { type Credential, requireOrg, requireRole } from './auth'
import { readObject } from './body'
import { namedProject, writtenProject } from './named-project'
import { checkNames } from './query-names'

/** Routes for the files of a project's code index (fabric contract §9): `/api/v1/code/<project>/files`. */

/** 20 MB of content, with the overhead of JSON. */
const MAX_BODY = 32_000_000

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function readFile(value: unknown, i: number): SentFile {
  if (!isRecord(value)) throw invalidInput(`files[${i}] must be an object {path, content, language?}`)
  const unknown = Object.keys(value).find((name) => !['path', 'content', 'language'].includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown member "${unknown.slice(0, 40)}" in files[${i}]; allowed: path, content, language`)
  const { path, content, language } = value
  if (typeof path !== 'string') throw invalidInput(`files[${i}].path must be a string`)
  if (typeof content !== 'string') throw invalidInput(`files[${i}].content must be a string`)
  if (language !== undefined && language !== null && typeof language !== 'string')
    throw invalidInput(`files[${i}].language must be a string`)
  return { path, content, ...(typeof language === 'string' ? { language } : {}) }
}

/** @throws Problem invalid_input that names the member */
function readUpload({ files = [], deleted = [], root }: Record<string, unknown>) {
  if (root !== undefined && root !== null && typeof root !== 'string') throw invalidInput('root must be a string')
  if (!Array.isArray(files)) throw invalidInput('files must be a list of {path, content, language?}')
  if (!Array.isArray(deleted) || !deleted.every((path) => typeof path === 'string'))
    throw invalidInput('deleted must be a list of paths')
  if (deleted.length > 10_000) throw new Problem('limit_exceeded', 'deleted has more than 10000 items')
  return {
    files: files.map(readFile),
    deleted: deleted as string[],
    ...(typeof root === 'string' ? { root } : {}),
  }
}

const iso = (ms: Millis | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const showStatus = (status: IndexStatus) => ({ ...status, lastIndexed: iso(status.lastIndexed) })
const showReport = (report: IndexReport) => ({ ...report, indexStatus: showStatus(report.indexStatus) })

export function createCodeRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Runs an action of the key's role; a denial is logged. */
  async function run<T>(
    { services, credential }: Variables,
    action: string,
    role: Role,
    step: (caller: Actor) => Promise<T>,
  ): Promise<T> {
    const caller: Actor = { ...requireOrg(credential), action, tool: null }
    try {
      requireRole(caller, role)
      return await step(caller)
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden')
        await services.administration.note(caller, false, { denied: 1 })
      throw error
    }
  }

  routes.put('/:project/files', async (c) => {
    const report = await run(c.var, 'code.put', 'writer', async (caller) => {
      const sent = readUpload(await readObject(c.req.raw, ['files', 'deleted', 'root'], MAX_BODY))
      const { project } = await writtenProject(c.var.services, caller, c.req.param('project'))
      return c.var.services.code.put(caller, project, sent)
    })
    return c.json(showReport(report))
  })

  routes.get('/:project/files', async (c) => {
    checkNames(c.req.query(), ['root'], 'a list of files')
    const files = await run(c.var, 'code.list', 'reader', async (caller) => {
      const { scope, project } = await namedProject(c.var.services, caller, c.req.param('project'))
      return c.var.services.code.list(scope, project, c.req.query('root'))
    })
    return c.json({ files })
  })

  routes.delete('/:project/files', async (c) => {
    checkNames(c.req.query(), ['root'], 'deleting an index')
    const deleted = await run(c.var, 'code.clear', 'writer', async (caller) => {
      const { scope, project } = await namedProject(c.var.services, caller, c.req.param('project'))
      return c.var.services.code.clear(scope, project, c.req.query('root'))
    })
    return c.json({ deleted })
  })

  return routes
}
