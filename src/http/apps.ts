import type { Config } from '../config'
import { enabledOf } from '../tools/catalogue'
import { review, reviewDecide } from '../tools/core/review'
import type { Tool } from '../tools/define-tool'
import { PACK_SCRIPT } from './app-ui/pack'
import { appPage } from './app-ui/page'
import { REVIEW_SCRIPT } from './app-ui/review'
import { APP_TYPE } from './client-capabilities'

/**
 * MCP Apps (SEP-1865, revision 2026-01-26) of `/mcp/core`: pages that a client shows next to the result of a tool. Other clients get
 * neither these resources nor these tools.
 */

const APPS = [
  {
    uri: 'ui://commonplace/pack.html',
    name: 'pack',
    title: 'Context pack',
    description: 'The memories of a context pack, why each is there, and what was left out.',
    script: PACK_SCRIPT,
  },
  {
    uri: 'ui://commonplace/review.html',
    name: 'review-sessions',
    title: 'Review of captured sessions',
    description: 'Captured sessions that await approval, to approve or drop.',
    script: REVIEW_SCRIPT,
  },
] as const
const [PACK, REVIEW] = APPS

/** The app of each tool. `review_decide` is for the app alone: clients do not offer it to the model. */
const SHOWN: Readonly<Record<string, object>> = {
  context: { resourceUri: PACK.uri },
  review: { resourceUri: REVIEW.uri },
  review_decide: { resourceUri: REVIEW.uri, visibility: ['app'] },
}

/** Returns the tools that only clients with apps get. */
export const toolsOf = (config: Config): readonly Tool[] => enabledOf(config, [review, reviewDecide])

/** Returns the declaration of a tool's app in `tools/list`. */
export const metaOf = ({ name }: Tool): { readonly _meta?: { readonly ui: object } } => {
  const ui = SHOWN[name]
  return ui === undefined ? {} : { _meta: { ui } }
}

/** The pages need no external origin, so that they declare none: the client then allows no connection. */
const PRESENTATION = { _meta: { ui: { prefersBorder: true } } }

export const listApps = () => APPS.map(({ script: _, ...app }) => ({ ...app, mimeType: APP_TYPE, ...PRESENTATION }))

/**
 * Returns the page of an app; null for an unknown address.
 *
 * @param origin of the dashboard, to which the page links
 */
export function readApp(uri: string, origin: string) {
  const app = APPS.find((one) => one.uri === uri)
  return app === undefined ? null : { uri, mimeType: APP_TYPE, text: appPage(app, origin), ...PRESENTATION }
}
