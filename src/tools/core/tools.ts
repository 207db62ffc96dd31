import type { Tool } from '../define-tool'
import { changes } from './changes'
import { context } from './context'
import { fetch } from './fetch'
import { forget } from './forget'
import { history } from './history'
import { projects } from './projects'
import { remember } from './remember'
import { restore } from './restore'
import { search } from './search'
import { update } from './update'

/** The tools of `/mcp/core`, in the order in which they are listed. */
export const CORE_TOOLS: readonly Tool[] = [
  context,
  remember,
  search,
  fetch,
  update,
  forget,
  restore,
  history,
  changes,
  projects,
]

/** Tools that only clients with MCP Apps get. Their modules are loaded when such a client asks (`src/http/apps.ts`). */
export const APP_TOOL_NAMES = ['review', 'review_decide'] as const
