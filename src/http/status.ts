import type { ProblemCode } from '../domain/errors'

/** The HTTP status of each problem. */
export const STATUS: Readonly<Record<ProblemCode, 400 | 401 | 403 | 404 | 409 | 413 | 500 | 501 | 503>> = {
  invalid_input: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit_exceeded: 413,
  internal: 500,
  unsupported: 501,
  unavailable: 503,
}
