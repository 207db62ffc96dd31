/** CORS headers for pages of other origins. No answer allows credentials: cookies stay with their own origin. */

/**
 * Headers that a page may send: those of MCP and OAuth by name, since some browsers do not read the asterisk, which never stands for
 * `Authorization`.
 */
const ALLOWED_HEADERS = [
  ...['Content-Type', 'Accept', 'Authorization', 'Last-Event-ID'],
  ...['mcp-session-id', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', '*'],
]

/** Headers of an answer that a page may read. */
export const EXPOSED_HEADERS =
  'WWW-Authenticate, Retry-After, X-Next-Cursor, Link, mcp-session-id, MCP-Protocol-Version'

/** Returns the answer to a preflight. @param origin the page that may call; `*` where every page may */
export const preflight = (origin = '*'): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'GET, POST, DELETE, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
      'Access-Control-Max-Age': '86400',
      ...(origin === '*' ? {} : { Vary: 'Origin' }),
    },
  })
