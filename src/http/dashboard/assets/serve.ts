import { SCRIPT } from './script'
import { STYLE } from './style'

/** The accent of the stylesheet. */
const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#0b8a78" stroke-width="2"
 stroke-linecap="round" stroke-linejoin="round"><path d="M12 6.5C10 4.8 7 4.2 3 4.5v13c4-.3 7 .3 9 2 2-1.7 5-2.3 9-2v-13c-4-.3-7
 .3-9 2Zm0 0v13"/></svg>`

const FILES: Readonly<Record<string, { readonly type: string; readonly content: string }>> = {
  'dashboard.css': { type: 'text/css; charset=utf-8', content: STYLE },
  'dashboard.js': { type: 'text/javascript; charset=utf-8', content: SCRIPT },
  'mark.svg': { type: 'image/svg+xml', content: MARK },
}

/** Serves a public file that every page uses; null for an unknown one. Its address changes with its content, so it may be cached. */
export function assetOf(name: string): Response | null {
  const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (file === undefined) return null
  return new Response(file.content, {
    headers: { 'Content-Type': file.type, 'Cache-Control': 'public, max-age=31536000, immutable' },
  })
}
