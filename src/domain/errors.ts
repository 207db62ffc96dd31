/**
 * The error codes that callers see (platform contract §4). Every intentional error is a `Problem`; any other error is a
 * bug, which the caller sees as `internal`.
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

/** Codes after which the same call can succeed. */
const RETRYABLE: ReadonlySet<ProblemCode> = new Set(['conflict', 'unavailable'])

/** An object, or one row for each of several errors. */
export type ProblemDetails = Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]

interface Shown {
  readonly details?: ProblemDetails
  readonly beside?: Readonly<Record<string, unknown>>
  /** Overrides the default of the code. */
  readonly retryable?: boolean
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly retryable: boolean
  /** `error.details`: the exact error, for programs. */
  readonly details: ProblemDetails | undefined
  /** Further members of the error result, next to `error` (`validation_errors`, `results` …). */
  readonly beside: Readonly<Record<string, unknown>>

  /**
   * @param message one sentence for the caller: what happened and what to do next; never SQL, a stack, a host or a key
   * @param shown public: details of the error, and further members of the result
   * @param cause private: logged only
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

/** The parts of a Problem that callers see, as JSON. */
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

/** The error for an ID that does not exist or that the caller cannot see. */
export const noSuchEntry = (id: number): Problem => notFound(`Context entry with ID ${id} not found`)

export const unavailable = (message: string, cause?: unknown): Problem => new Problem('unavailable', message, {}, cause)
