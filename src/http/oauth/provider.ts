import { OAuthAuthorizationServer, OAuthError } from '@cloudflare/workers-oauth-provider'
import { Problem } from '../../domain/errors'
import type { Identity } from '../../services/people/identity'
import type { Log } from '../log'
import { fetchesDocuments, isAllowedRedirect } from './client-ids'
import { resourcesAt, SCOPE } from './resources'

/**
 * Wraps the KV namespace in which the provider keeps its records: a name that is too long counts as missing. Clients choose parts
 * of these names, and KV itself answers a long one with an error.
 */
export type BoundedStore = Pick<KVNamespace, 'get' | 'put' | 'delete' | 'list'>

const MAX_NAME_BYTES = 512

const exists = (name: string) => new TextEncoder().encode(name).byteLength <= MAX_NAME_BYTES

/** @param kv holds hashes of tokens, codes and secrets; the content of a grant is encrypted with the token itself */
export function boundedStore(kv: KVNamespace): BoundedStore {
  return {
    get: (async (name: string, options: KVNamespaceGetOptions<'json'>) =>
      exists(name) ? kv.get(name, options) : null) as KVNamespace['get'],
    put: (name, value, options) => kv.put(name, value, options),
    delete: async (name) => {
      if (exists(name)) await kv.delete(name)
    },
    list: (options) => kv.list(options),
  }
}

/** Configures the authorization server of an origin; cached for the life of an isolate. */

const ACCESS_SECONDS = 3600
const REFRESH_SECONDS = 30 * 86_400

/** The provider's error for a refresh token that is neither the last nor the previous one of its grant. */
const REUSE = { category: 'refresh-token-grant', reason: 'refresh_token_mismatch' } as const

/** Marks the answer to it within this server; clients never see it. */
export const REUSED = 'x-refresh-token-reused'

/** Limits of a registration; the client of an editor registers about six addresses. */
const MAX_CLIENT_NAME = 200
const MAX_REDIRECT_URIS = 20
const MAX_REDIRECT_URI = 1000

/** Returns which limit is exceeded, or null. The provider checks types before. */
export function registrationFault({ client_name: name, redirect_uris: uris }: Record<string, unknown>): string | null {
  if (typeof name === 'string' && [...name].length > MAX_CLIENT_NAME)
    return `client_name is longer than ${MAX_CLIENT_NAME} characters; send a shorter one`
  if (!Array.isArray(uris)) return null
  if (uris.length > MAX_REDIRECT_URIS)
    return `redirect_uris has ${uris.length} items; send at most ${MAX_REDIRECT_URIS}`
  if (uris.some((uri) => String(uri).length > MAX_REDIRECT_URI))
    return `A redirect URI is longer than ${MAX_REDIRECT_URI} characters; send a shorter one`
  return uris.every((uri) => isAllowedRedirect(String(uri)))
    ? null
    : 'A redirect URI must be https, http on this machine, or a scheme that an app registers for itself, such as app://callback'
}

export interface ProviderEnv {
  readonly OAUTH_KV: BoundedStore
  readonly identity: Identity
}

export function createServer(origin: string, log: Log): OAuthAuthorizationServer<ProviderEnv> {
  return new OAuthAuthorizationServer<ProviderEnv>({
    issuer: origin,
    resources: resourcesAt(origin),
    // The default for clients without RFC 8707.
    defaultResource: resourcesAt(origin)[0] as string,
    authorizeEndpoint: '/authorize',
    tokenEndpoint: '/token',
    clientRegistrationEndpoint: '/register',
    scopesSupported: [SCOPE],
    accessTokenTTL: ACCESS_SECONDS,
    refreshTokenTTL: REFRESH_SECONDS,
    // Cursor and other editors; PKCE by S256 is required of every client (consent.ts).
    allowPrivateUseRedirectUris: true,
    clientIdMetadataDocumentEnabled: fetchesDocuments(origin),
    clientRegistrationCallback: ({ clientMetadata }) => {
      const fault = registrationFault(clientMetadata)
      return fault === null ? undefined : { code: 'invalid_client_metadata', description: fault }
    },
    async tokenExchangeCallback({ props, env }) {
      try {
        await env.identity.principalOfKeyId(props.keyId)
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'unauthorized') throw error
        // The provider deletes the grant, too.
        throw new OAuthError('invalid_grant', { description: 'The key of this grant has expired or was revoked' })
      }
    },
    onError({ code, description, status, headers, internal }) {
      log('INFO', 'oauth_refused', { code, reason: internal.reason })
      if (internal.category !== REUSE.category || internal.reason !== REUSE.reason) return
      const marked = { ...headers, [REUSED]: '1' }
      return Response.json({ error: code, error_description: description }, { status, headers: marked })
    },
  })
}

/** Cached for the life of an isolate, which serves one or two origins; a server remembers the public keys of clients. */
const servers = new Map<string, OAuthAuthorizationServer<ProviderEnv>>()
const MAX_SERVERS = 8

export function serverAt(origin: string, log: Log): OAuthAuthorizationServer<ProviderEnv> {
  const known = servers.get(origin)
  if (known !== undefined) return known
  if (servers.size >= MAX_SERVERS) servers.clear()
  const made = createServer(origin, log)
  servers.set(origin, made)
  return made
}

/** An error as OAuth's endpoints return it (RFC 6749 §5.2). */
export const oauthError = (status: number, error: string, description: string): Response =>
  Response.json({ error, error_description: description }, { status, headers: { 'Cache-Control': 'no-store' } })
