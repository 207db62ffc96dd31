import type { OAuthHelpers } from '@cloudflare/workers-oauth-provider'
import { unavailable } from '../../domain/errors'
import { boundedStore, createServer, type ProviderEnv, REUSED, serverAt } from './provider'
import { counts } from './resources'
import type { Dependencies, Issuer, OAuth } from './server'
import { answerTokenRequest } from './token-requests'

/** Issues tokens and resolves them. Origins are those that can be an issuer. */
export interface Grants {
  readonly helpersAt: (origin: string) => OAuthHelpers
  readonly serve: (origin: string, ...given: Parameters<Issuer['serve']>) => Promise<Response>
  readonly keyIdOf: OAuth['keyIdOf']
  readonly purge: OAuth['purge']
}

const PURGE_BATCH = 100
const PURGE_CURSOR = 'purge-cursor'

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

/** OAuth for one request or one run of the schedule. Loaded when a request first needs it, with the provider. */
export function createGrants({ kv, identity, turns, log }: Dependencies): Grants {
  const env: ProviderEnv = { OAUTH_KV: boundedStore(kv), identity }
  return {
    helpersAt: (origin) => serverAt(origin, log).getOAuthApi(env),

    async serve(origin, request, ctx, form) {
      const server = serverAt(origin, log)
      if (form === undefined) return server.fetch(request, env, ctx)
      const helpers = server.getOAuthApi(env)
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

    async keyIdOf(token, request) {
      const url = new URL(request.url)
      const found = await serverAt(url.origin, log)
        .getOAuthApi(env)
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
