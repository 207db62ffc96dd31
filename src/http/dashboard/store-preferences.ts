import { serialize } from 'hono/utils/cookie'
import { seeOther } from './page'
import { safePath } from './parts/words'
import { CHOICES } from './preferences'
import { sent, type Visit } from './visit'

const YEAR = 31_536_000

/** Stores the preferences of a form in the browser, and returns to the page that it names. */
export async function storePreferences(visit: Visit): Promise<Response> {
  const response = seeOther(safePath(sent(visit, 'from')))
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = sent(visit, name.slice('commonplace-'.length))
    if (value !== null && values.includes(value))
      response.headers.append('Set-Cookie', serialize(name, value, { path: '/', maxAge: YEAR, sameSite: 'Lax' }))
  }
  return response
}
