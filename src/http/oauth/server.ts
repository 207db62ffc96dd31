import type { OAuthHelpers } from '@cloudflare/workers-oauth-provider'
import { unavailable } from '../../domain/errors'
import type { Identity } from '../../services/people/identity'
import type { Services } from '../../services/services'
import type { AccessTokens } from '../auth'
import type { Log } from '../log'
import { boundedStore, createServer, type ProviderEnv, REUSED, serverAt } from './provider'
import { counts } from './resources'
import { answerTokenRequest, TOKEN } from './token-requests'

/**
 * Issues tokens and resolves them. A grant holds only the id of the key that the person pasted, and the key is
 * looked up at every use: a change of the key affects its grants at the next request.
 */
const PURGE_BATCH = 100
const PURGE_CURSOR = 'purge-cursor'

/** The authorization server of one origin. */
export interface Issuer {
  /**
   * Serves its metadata, `/token` and `/register`.
   *
   * @param form of a POST request to `/token`, whose body has been read; absent for all others
   */
  serve(request: Request, ctx: ExecutionContext, form?: URLSearchParams): Promise<Response>
  /** For the consent page. */
  readonly helpers: OAuthHelpers
}

export interface OAuth extends AccessTokens {
  /** Null for an origin that cannot be an issuer: plain http on another machine. */
  at(origin: string): Issuer | null
  /** Removes part of the expired and orphaned records; the next call continues where this one stopped. */
  purge(): Promise<boolean>
}

/** Returns the request with this form only, so that the provider reads exactly what was checked. */
function withForm(request: Request, form: URLSearchParams): Request {
  const headers = new Headers(request.headers)
  headers.set('Content-Type', 'application/x-www-form-urlencoded')
  headers.delete('Content-Length')
  return new Request(request.url, { method: 'POST', headers, body: form.toString() })
}

function unmarked(response: Response): Response {
  if (!response.headers.has(REUSED)) return response
  const answer = new Response(response.body, response)
  answer.headers.delete(REUSED)
  return answer
}

interface Dependencies {
  readonly kv: KVNamespace
  readonly identity: Identity
  readonly turns: Services['grantTurns']
  readonly log: Log
}

/** OAuth for one request or one run of the schedule. */
export function createOAuth({ kv, identity, turns, log }: Dependencies): OAuth {
  const env: ProviderEnv = { OAUTH_KV: boundedStore(kv), identity }
  return {
    at(origin) {
      const server = serverAt(origin, log)
      if (server === null) return null
      const helpers = server.getOAuthApi(env)
      return {
        helpers,
        async serve(request, ctx, form) {
          if (form === undefined) return server.fetch(request, env, ctx)
          const serve = (fields: URLSearchParams) => server.fetch(withForm(request, fields), env, ctx)
          const answer = answerTokenRequest(form, request.headers.get('authorization'), {
            turns,
            serve,
            isReuse: (response) => response.headers.has(REUSED),
            /** Two parties hold the same code or token, and either may be the client (RFC 9700 §4.14.2): both lose it. */
            async endGrant({ userId, grantId }, reason) {
              await helpers.revokeGrant(grantId, userId)
              log('WARNING', 'oauth_grant_ended', { reason, key: userId })
            },
            hasGrant: async ({ userId, grantId }) => (await kv.get(`grant:${userId}:${grantId}`)) !== null,
          })
          // A client that disconnects still releases its lock.
          ctx.waitUntil(answer.catch(() => {}))
          return unmarked(await answer)
        },
      }
    },

    async keyIdOf(token, request) {
      if (!TOKEN.test(token)) return null
      const url = new URL(request.url)
      const found = await serverAt(url.origin, log)
        ?.getOAuthApi(env)
        .unwrapToken<{ keyId: string }>(token)
        .catch((cause) => {
          // An unreadable grant is not a refusal: a client that gets 401 would discard its tokens.
          throw unavailable('The grant could not be read; try again', cause)
        })
      return found && counts(found.audience, url) ? found.grant.props.keyId : null
    },

    async purge() {
      // Records do not depend on the origin, so any issuer may read them.
      const server = createServer('https://localhost', log)
      const cursor = await kv.get(PURGE_CURSOR)
      const result = await server.purgeExpiredData(env, {
        batchSize: PURGE_BATCH,
        ...(cursor === null ? {} : { cursor }),
      })
      if (result.cursor === undefined) await kv.delete(PURGE_CURSOR)
      else await kv.put(PURGE_CURSOR, result.cursor)
      return result.cursor !== undefined
    },
  }
}
