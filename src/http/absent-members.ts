import { isRecord } from '../tools/record'

/** Levels of a message that hold protocol members; deeper members are client data. */
const MAX_DEPTH = 8

/** Removes every member that is null. @param depth levels below this one */
function prune(value: unknown, depth: number): void {
  if (depth === 0 || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) prune(item, depth - 1)
    return
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members))
    if (members[name] === null) delete members[name]
    else prune(members[name], depth - 1)
}

/**
 * Removes null protocol members from a message. Clients in Python, Go and C# send null for an optional member that they do not
 * set (`params`, `arguments`, `_meta`, `cursor`, capabilities, prompt arguments). In the arguments of a tool, null keeps the meaning
 * that the tool's schema gives it.
 *
 * @param message a request or notification, or a list of them; it is changed in place
 */
export function removeAbsentMembers(message: unknown): void {
  if (Array.isArray(message)) {
    for (const one of message) removeAbsentMembers(one)
    return
  }
  if (!isRecord(message) || typeof message.method !== 'string') return
  const { params: sent } = message
  if (sent === null || (Array.isArray(sent) && sent.length === 0)) delete message.params
  // A notification has no id.
  if (message.id === null && message.method.startsWith('notifications/')) delete message.id
  const { params } = message
  if (!isRecord(params)) return
  const ofTool = message.method === 'tools/call' && isRecord(params.arguments) ? params.arguments : null
  if (ofTool !== null) delete params.arguments
  // PHP writes an empty object as a list.
  else if (Array.isArray(params.arguments) && params.arguments.length === 0) delete params.arguments
  if (message.method === 'initialize') emptyWhereNull(params, 'capabilities')
  if (isRecord(params._meta)) emptyWhereNull(params._meta, 'io.modelcontextprotocol/clientCapabilities')
  prune(params, MAX_DEPTH)
  if (ofTool !== null) params.arguments = ofTool
}

/** Replaces a required protocol member that is null or an empty list with an empty object. */
function emptyWhereNull(holder: Record<string, unknown>, name: string): void {
  const value = holder[name]
  if (value === null || (Array.isArray(value) && value.length === 0)) holder[name] = {}
}
