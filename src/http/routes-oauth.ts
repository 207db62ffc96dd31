import { createOAuthRoutes } from './oauth/routes'
import type { Mount } from './route-groups'
import { findVisitor } from './sign-in/routes'

/** Routes of OAuth. */
export const withCredential: Mount = (app) => app.route('/', createOAuthRoutes(findVisitor))
