import { ABOUT } from '../domain/about'

/** Path of the server description that clients read before they connect, below the endpoint (SEP-2127). */
export const CARD_PATH = '/mcp/server-card'
/** The revisions of the protocol that the endpoint supports. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

/**
 * Returns the public Server Card of an endpoint: its description and how to connect. It reveals nothing that the endpoint's own refusals
 * do not. Shape: github.com/modelcontextprotocol/experimental-ext-server-card, schema v1.
 */
export function serverCard(origin: string, mode: 'open' | 'required'): Response {
  const card = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...ABOUT,
    remotes: ['/mcp', '/mcp/core'].map((path) => ({
      type: 'streamable-http',
      url: `${origin}${path}`,
      ...(mode === 'required' && {
        headers: [
          {
            name: 'Authorization',
            description: 'Bearer and a key of your organization; clients that know OAuth need none',
            isRequired: false,
            isSecret: true,
            value: 'Bearer {key}',
            variables: { key: { description: 'A key: commonplace keys create', isSecret: true } },
          },
        ],
      }),
      supportedProtocolVersions: REVISIONS,
    })),
  }
  return new Response(JSON.stringify(card), {
    headers: {
      'content-type': 'application/mcp-server-card+json',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'cache-control': 'public, max-age=3600',
    },
  })
}
