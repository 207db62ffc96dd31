import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { isRecord } from '../tools/record'

/** An SDK error that holds the findings of its validator as a JSON list, alone or after a few words. */
const FINDINGS = /^(?:Invalid [^[]{0,100}: )?(\[[\s\S]*\])$/

/** Formats one finding: the member, the expected type, and the actual one. */
function sentenceOf({ path, message }: Record<string, unknown>): string {
  const name = Array.isArray(path) && path.length > 0 ? path.join('.') : 'params'
  const [, expected, received] = /expected (\w+), received (\w+)/.exec(String(message)) ?? []
  if (expected === undefined) return `${name} is not valid`
  const type = expected === 'record' ? 'object' : expected
  return received === 'undefined' ? `${name} is missing (${type})` : `${name} must be of type ${type}, not ${received}`
}

/** Formats the findings of a request; null for any other error. */
function findingsOf(error: unknown): string | null {
  const [, list] = error instanceof Error ? (FINDINGS.exec(error.message) ?? []) : []
  if (list === undefined) return null
  try {
    const findings: unknown = JSON.parse(list)
    if (!Array.isArray(findings) || !findings.every(isRecord)) return null
    return findings.map(sentenceOf).join('; ')
  } catch {
    return null
  }
}

/** An SDK server that reports wrong parameters as the caller's error, not its own (JSON-RPC: −32602, not −32603). */
export class StrictServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        return await wrapped(request, context)
      } catch (error) {
        const findings = findingsOf(error)
        if (findings === null) throw error
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params of ${method}: ${findings}`)
      }
    }
  }
}
