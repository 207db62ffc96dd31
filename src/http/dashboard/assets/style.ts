import { BASE } from './style-base'
import { LAYOUT } from './style-layout'
import { PAGES } from './style-pages'
import { PROSE } from './style-prose'
import { versioned } from './versioned'

/** Joins the parts into the one stylesheet. */
export const STYLE = `${BASE}${LAYOUT}${PAGES}${PROSE}`
export const STYLE_AT = versioned('/assets/dashboard.css', STYLE)
