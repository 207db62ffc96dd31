/** An error as OAuth's endpoints return it (RFC 6749 §5.2). */
export const oauthError = (status: number, error: string, description: string): Response =>
  Response.json({ error, error_description: description }, { status, headers: { 'Cache-Control': 'no-store' } })
