import { parse, serialize } from 'hono/utils/cookie'

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

/** Returns the cookies that store the preferences of a form. */
export const preferenceCookies = (form: URLSearchParams): string[] =>
  Object.entries(CHOICES).flatMap(([name, values]) => {
    const value = form.get(name.slice('commonplace-'.length))
    const isKnown = value !== null && values.includes(value)
    return isKnown ? [serialize(name, value, { path: '/', maxAge: YEAR, sameSite: 'Lax' })] : []
  })
