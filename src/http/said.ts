import { withoutEchoes } from '../domain/identity/discretion'

/** What a request says, so that no line of the log repeats it: engines like to quote their input where they fail. */
const bodies = new WeakMap<Request, unknown>()

/** Whoever reads a body notes it here. */
export const noteBody = (request: Request, body: unknown): void => void bodies.set(request, body)

/**
 * An error as the log may hold it, without anything that the request says in its body, its address or its credential.
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
