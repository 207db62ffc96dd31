/**
 * The closed set of things that can go wrong, as callers see them (platform contract §4).
 * Everything thrown on purpose is a `Problem`; anything else that escapes is a bug and reaches the caller as `internal`.
 */
export const PROBLEM_CODES = [
  'invalid_input',
  'not_found',
  'conflict',
  'limit_exceeded',
  'unsupported',
  'unauthorized',
  'forbidden',
  'unavailable',
  'internal',
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

/** Codes after which the same call may succeed unchanged. */
const RETRYABLE: ReadonlySet<ProblemCode> = new Set(['conflict', 'unavailable'])

/** An object, or one row for each of several things that are wrong. */
export type ProblemDetails = Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]

interface Shown {
  readonly details?: ProblemDetails
  readonly beside?: Readonly<Record<string, unknown>>
  /** Where it is not what the code says. */
  readonly retryable?: boolean
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly retryable: boolean
  /** `error.details`: what exactly is wrong, for programs. */
  readonly details: ProblemDetails | undefined
  /** Further members of the error result, beside `error` (`validation_errors`, `results` …). */
  readonly beside: Readonly<Record<string, unknown>>

  /**
   * @param message one sentence for the caller: what is wrong and what to do next; never SQL, a stack, a host or a key
   * @param shown public: the error's own details, and members to stand beside `error` in the result
   * @param cause private: goes to the log only
   */
  constructor(code: ProblemCode, message: string, shown: Shown = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'Problem'
    this.code = code
    this.retryable = shown.retryable ?? RETRYABLE.has(code)
    this.details = shown.details
    this.beside = shown.beside ?? {}
  }
}

/** A Problem as JSON holds it: all that a caller is shown of it. */
export type PlainProblem = Pick<Problem, 'code' | 'message' | 'retryable' | 'beside'> & {
  readonly details?: ProblemDetails | undefined
}

export const plainProblem = ({ code, message, retryable, details, beside }: Problem): PlainProblem => ({
  ...{ code, message, retryable, details, beside },
})

export const problemOf = ({ code, message, retryable, details, beside }: PlainProblem): Problem =>
  new Problem(code, message, { retryable, beside, ...(details === undefined ? {} : { details }) })

export const invalidInput = (message: string, details?: ProblemDetails): Problem =>
  new Problem('invalid_input', message, details === undefined ? {} : { details })

export const limitExceeded = (message: string): Problem => new Problem('limit_exceeded', message)

export const notFound = (message: string): Problem => new Problem('not_found', message)

/** One answer for an id that never was and one that the caller may not see. */
export const noSuchEntry = (id: number): Problem => notFound(`Context entry with ID ${id} not found`)

export const unavailable = (message: string, cause?: unknown): Problem => new Problem('unavailable', message, {}, cause)
