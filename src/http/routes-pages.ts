import { requireOrg } from './auth'
import { createAssets, createDashboard } from './dashboard/routes'
import { entryPage } from './entry-page'
import { serveImage } from './images'
import type { Mount } from './route-groups'
import { createSignInRoutes } from './sign-in/routes'

export { isPagePath } from './dashboard/table'

/** Routes of pages: the dashboard, entries and images. */

export const withoutServices: Mount = (app) => app.route('/', createAssets())

/** The dashboard has sessions of its own: a browser cannot send a credential. */
export const withoutCredential: Mount = (app) => {
  app.route('/', createSignInRoutes())
  app.route('/', createDashboard())
}

export const withCredential: Mount = (app) => {
  app.get('/images/:hash', (c) => serveImage(c.var.services, requireOrg(c.var.credential), c.req.param('hash')))
  app.get('/entries/:id', (c) =>
    entryPage(c.var.services, requireOrg(c.var.credential), c.req.param('id'), new URL(c.req.url).origin),
  )
}
