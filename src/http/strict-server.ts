import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { isRecord } from '../tools/record'

/** What the SDK found wrong with a request: it throws the findings as JSON in an error that names no code. Null for any other error. */
function findingsOf(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof ProtocolError || !error.message.startsWith('[')) return null
  try {
    const findings: unknown = JSON.parse(error.message)
    if (!Array.isArray(findings) || !findings.every(isRecord)) return null
    return findings.map(({ path, message }) => `${Array.isArray(path) ? path.join('.') : ''}: ${message}`).join('; ')
  } catch {
    return null
  }
}

/** A server to which a request of wrong parameters is the caller's error, not one of its own (JSON-RPC: −32602, not −32603). */
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
