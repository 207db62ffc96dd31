import { parse, serialize } from 'hono/utils/cookie'
import { seeOther } from './page'
import { safePath } from './parts/words'
import { sent, type Visit } from './visit'

/** Preferences of a browser. They are cookies without a secret, so that the server renders them and the script may change them. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export interface Preferences {
  readonly theme: Theme
  /** Whether single keys act on pages (WCAG 2.1.4). */
  readonly hasShortcuts: boolean
  /** Whether the checklist of the first steps is hidden. */
  readonly isSetupHidden: boolean
}

const [THEME, SHORTCUTS, SETUP] = ['commonplace-theme', 'commonplace-shortcuts', 'commonplace-setup'] as const
const YEAR = 31_536_000

export function preferencesOf(request: Request): Preferences {
  const cookies = parse(request.headers.get('cookie') ?? '')
  return {
    theme: THEMES.find((one) => one === cookies[THEME]) ?? 'system',
    hasShortcuts: cookies[SHORTCUTS] !== 'off',
    isSetupHidden: cookies[SETUP] === 'hidden',
  }
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  [THEME]: THEMES,
  [SHORTCUTS]: ['on', 'off'],
  [SETUP]: ['shown', 'hidden'],
}

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
