import { invalidInput, Problem } from '../domain/errors'
import { readJsonBody } from './body'

/** More than any route accepts: 10,000 paths, 1,000 files of code. */
const MAX_VALUES = 50_000

/**
 * Reads a body that is a JSON object with only these members.
 *
 * @throws Problem invalid_input or limit_exceeded
 */
export async function readObject(
  request: Request,
  members: readonly string[],
  maxBytes: number,
): Promise<Record<string, unknown>> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(request, maxBytes, { maxValues: MAX_VALUES })
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  const value = body.kind === 'json' ? body.value : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidInput(`The body must be a JSON object with: ${members.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !members.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown member "${unknown.slice(0, 40)}"; the body accepts: ${members.join(', ')}`)
  return value as Record<string, unknown>
}
