import type { OAuthHelpers } from '@cloudflare/workers-oauth-provider'
import { unavailable } from '../../domain/errors'
import type { Identity } from '../../services/people/identity'
import type { AccessTokens } from '../auth'
import type { Log } from '../log'
import { createServer, type ProviderEnv, REUSED, serverAt } from './provider'
import { counts } from './resources'
import { boundedStore } from './store'

/**
 * What issues tokens, and what a token stands for. A grant holds nothing but the id of the key that the person pasted, and
 * the key is looked up at every use: whatever happens to the key happens to its grants at the next request.
 */
const PURGE_BATCH = 100
const PURGE_CURSOR = 'purge-cursor'

/** The authorization server as one origin shows it. */
export interface Issuer {
  /**
   * Serves its metadata, `/token` and `/register`.
   *
   * @param form of a request to `/token`
   */
  serve(request: Request, ctx: ExecutionContext, form?: URLSearchParams): Promise<Response>
  /** For the consent page. */
  readonly helpers: OAuthHelpers
}

export interface OAuth extends AccessTokens {
  /** Null for an origin that no issuer may have: plain http on anything but this machine. */
  at(origin: string): Issuer | null
  /** Removes part of what has expired or has lost its client; the next call goes on where this one stopped. */
  purge(): Promise<boolean>
}

/** Three parts: id of the key, of the grant, and the secret. What has another form costs no read. */
const TOKEN = /^[\w-]{1,64}:[\w-]{16}:[\w-]{32}$/

/**
 * A refresh token that was replaced twice is used again: somebody has a copy, and nobody can tell who (RFC 9700 §4.14.2). So
 * the grant ends for both. Whoever knows its id has held one of its tokens; the id is in no other place.
 */
async function endGrantOf(token: string, helpers: OAuthHelpers, log: Log): Promise<void> {
  const [userId, grantId] = TOKEN.test(token) ? token.split(':') : []
  if (userId === undefined || grantId === undefined) return
  await helpers.revokeGrant(grantId, userId)
  log('WARNING', 'oauth_grant_ended', { reason: 'a replaced refresh token was used again', key: userId })
}

interface Dependencies {
  readonly kv: KVNamespace
  readonly identity: Identity
  readonly log: Log
}

/** OAuth for one request or one run of the schedule. */
export function createOAuth({ kv, identity, log }: Dependencies): OAuth {
  const env: ProviderEnv = { OAUTH_KV: boundedStore(kv), identity }
  return {
    at(origin) {
      const server = serverAt(origin, log)
      if (server === null) return null
      const helpers = server.getOAuthApi(env)
      return {
        helpers,
        async serve(request, ctx, form = new URLSearchParams()) {
          const response = await server.fetch(request, env, ctx)
          if (!response.headers.has(REUSED)) return response
          await endGrantOf(form.get('refresh_token') ?? '', helpers, log)
          const answer = new Response(response.body, response)
          answer.headers.delete(REUSED)
          return answer
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
          // Not knowing is no refusal: a client that is told 401 would throw its tokens away.
          throw unavailable('The grant cannot be looked up at the moment; try again', cause)
        })
      return found && counts(found.audience, url) ? found.grant.props.keyId : null
    },

    async purge() {
      // Records do not depend on the origin, so any issuer may look through them.
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
