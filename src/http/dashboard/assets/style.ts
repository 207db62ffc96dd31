import { BASE } from './style-base'
import { LAYOUT } from './style-layout'
import { PAGES } from './style-pages'
import { versioned } from './versioned'

/** The one stylesheet. */
export const STYLE = `${BASE}${LAYOUT}${PAGES}`
export const STYLE_AT = versioned('/assets/dashboard.css', STYLE)
