import { withoutEchoes } from '../domain/identity/discretion'

/** Collects the text of a request, so that log lines do not repeat it: database engines quote their input in errors. */
const bodies = new WeakMap<Request, unknown>()

/** Records the body of the request. */
export const noteBody = (request: Request, body: unknown): void => void bodies.set(request, body)

/**
 * Returns an error in a form that the log may hold, without any text of the request's body, address or credential.
 *
 * @param named parts of the path that callers choose, such as ids
 */
export function unsaid(error: unknown, request: Request, named: Readonly<Record<string, string>>): string {
  const { searchParams } = new URL(request.url)
  const said = [
    Object.values(named),
    [...searchParams.values()],
    request.headers.get('authorization')?.split(' ').at(-1),
  ]
  return withoutEchoes(String(error), [...said, bodies.get(request)])
}
