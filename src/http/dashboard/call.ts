import { Problem } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import type { Tool } from '../../tools/define-tool'
import { requireRole } from '../auth'
import { principalOf, type Visit } from './visit'

/** Performs writes the way agents do: with the tools, their checks, their receipts and their rows of the audit log. */

/** Logs a denial, as the endpoint does; if that fails, the denial still applies. */
async function noteDenial({ services, log, requestId }: Visit, caller: Caller): Promise<void> {
  await services.administration
    .note(caller, false, { denied: 1 })
    .catch((error) => log('ERROR', 'denial_not_noted', { tool: caller.tool, requestId, message: String(error) }))
}

export const callerOf = (visit: Visit, name: string): Caller => ({
  ...principalOf(visit),
  action: name,
  tool: name,
  changeId: visit.services.ids.next(),
  isPerson: true,
})

/**
 * Calls a tool for the visitor.
 *
 * @returns its structured result
 * @throws Problem of the tool, or forbidden for an insufficient role
 */
export async function callTool(visit: Visit, tool: Tool, args: Record<string, unknown>) {
  const principal = callerOf(visit, tool.name)
  const { services, config, url } = visit
  try {
    requireRole(principal, tool.role)
    return (await tool.call({ principal, services, config, origin: url.origin }, args)).structured
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden') await noteDenial(visit, principal)
    throw error
  }
}
