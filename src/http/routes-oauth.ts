import { createOAuthRoutes } from './oauth/routes'
import type { Mount } from './route-groups'

/** Routes of OAuth. */
export const withCredential: Mount = (app) => app.route('/', createOAuthRoutes())
