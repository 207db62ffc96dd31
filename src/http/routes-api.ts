import { createAdminRoutes } from './admin'
import { createChangesRoutes } from './changes'
import { createCodeRoutes } from './code'
import { createCapturedRoutes, createHooksRoutes } from './hooks/routes'
import { createPeopleRoutes } from './people'
import { createProjectChanges, createProjectsRoute } from './projects'
import { createRestRoutes, OPENAPI_PATH } from './rest'
import type { Mount } from './route-groups'
import { createStaleRoutes } from './stale'
import { createTransferRoutes } from './transfer'
import { createWhyRoute } from './why'

/** Routes below `/api`. */

export const withoutCredential: Mount = (app) =>
  app.get(OPENAPI_PATH, async (c) => {
    const { openApi } = await import('./openapi')
    return c.json(openApi(new URL(c.req.url).origin))
  })

export const withCredential: Mount = (app) => {
  app.route('/api/v1/code', createCodeRoutes())
  app.route('/api/v1/hooks', createHooksRoutes())
  app.route('/api/v1/orgs', createCapturedRoutes())
  app.route('/api/v1/orgs', createStaleRoutes())
  app.route('/api/v1/orgs', createWhyRoute())
  app.route('/api/v1/orgs', createChangesRoutes())
  app.route('/api/v1/orgs', createTransferRoutes())
  app.route('/api/v1/orgs', createRestRoutes())
  app.route('/api/v1/projects', createProjectsRoute())
  app.route('/api/v1/orgs', createProjectChanges())
  app.route('/api/v1/orgs', createPeopleRoutes())
  app.route('/api/v1', createAdminRoutes())
}
