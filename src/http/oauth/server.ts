import type { OAuthHelpers } from '@cloudflare/workers-oauth-provider'
import type { Identity } from '../../services/people/identity'
import type { Services } from '../../services/services'
import type { AccessTokens } from '../auth'
import type { Log } from '../log'
import { isIssuer, TOKEN } from './resources'

/**
 * Issues tokens and resolves them. A grant holds only the id of the key that the person pasted, and the key is
 * looked up at every use: a change of the key affects its grants at the next request.
 */

/** The authorization server of one origin. */
export interface Issuer {
  /**
   * Serves its metadata, `/token` and `/register`.
   *
   * @param form of a POST request to `/token`, whose body has been read; absent for all others
   */
  serve(request: Request, ctx: ExecutionContext, form?: URLSearchParams): Promise<Response>
  /** For the consent page. */
  helpers(): Promise<OAuthHelpers>
}

export interface OAuth extends AccessTokens {
  /** Null for an origin that cannot be an issuer: plain http on another machine. */
  at(origin: string): Issuer | null
  /** Removes part of the expired and orphaned records; the next call continues where this one stopped. */
  purge(): Promise<boolean>
}

export interface Dependencies {
  readonly kv: KVNamespace
  readonly identity: Identity
  readonly turns: Services['grantTurns']
  readonly log: Log
}

/** OAuth for one request or one run of the schedule. Requests without tokens of OAuth do not load its code. */
export function createOAuth(given: Dependencies): OAuth {
  const load = async () => (await import('./grants')).createGrants(given)
  return {
    at: (origin) =>
      isIssuer(origin)
        ? {
            helpers: async () => (await load()).helpersAt(origin),
            serve: async (...asked) => (await load()).serve(origin, ...asked),
          }
        : null,
    keyIdOf: async (token, request) =>
      TOKEN.test(token) && isIssuer(new URL(request.url).origin) ? (await load()).keyIdOf(token, request) : null,
    purge: async () => (await load()).purge(),
  }
}
