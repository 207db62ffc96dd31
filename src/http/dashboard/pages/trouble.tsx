import type { ProblemCode } from '../../../domain/errors'
import type { Page } from '../page'
import { homeOf } from '../parts/navigation'

/** The page of an error. */
const TITLES: Readonly<Record<ProblemCode, string>> = {
  invalid_input: 'Invalid request',
  not_found: 'Not found',
  conflict: 'Nothing was changed',
  limit_exceeded: 'Limit exceeded',
  unsupported: 'Not available here',
  unauthorized: 'Not signed in',
  forbidden: 'Not allowed',
  unavailable: 'Not available now',
  internal: 'Something went wrong',
}

/** @param message one sentence for the user */
export const troublePage = (code: ProblemCode, message: string, status: number, isOperator = false): Page => ({
  title: TITLES[code],
  status,
  body: (
    <div class="card">
      <h1>{TITLES[code]}</h1>
      <p class="more">{message}</p>
      <p class="more">
        <a href={homeOf(isOperator)}>Back to the {isOperator ? 'projects' : 'overview'}</a>
      </p>
    </div>
  ),
})
