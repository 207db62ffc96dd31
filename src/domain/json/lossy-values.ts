/**
 * Values that JavaScript cannot represent exactly: numbers, nesting depths and lengths beyond the limits. The parser
 * puts a `LossyValues` object in their place, so that validation can report the path and reject the value.
 */

/** Maximum nesting depth of an argument (platform contract §6). SQLite parses JSON up to depth 1,000. */
export const MAX_DEPTH = 500

type Flaw = 'changed' | 'too_large' | 'too_deep' | 'too_long' | 'too_many'

const REASONS: Readonly<Record<Flaw, (literal: string) => string>> = {
  changed: (literal) => `is the integer ${literal}, which a JSON number cannot represent exactly; send it as a string`,
  too_large: (literal) => `is the number ${literal}, which is too large for a JSON number; send it as a string`,
  too_long: (literal) => `has more than ${literal} characters`,
  too_many: (literal) => `has more than ${literal} members and items`,
  too_deep: () => `is nested deeper than ${MAX_DEPTH} levels`,
}

const SHOWN_DIGITS = 60

export class LossyValues {
  constructor(
    readonly flaw: Flaw,
    private readonly literal: string,
  ) {}

  /** The problem, as words that follow the name of the argument. */
  get reason(): string {
    return REASONS[this.flaw](this.toString())
  }

  /** The literal as it was sent, shortened if it is long. */
  toString(): string {
    return this.literal.length > SHOWN_DIGITS ? `${this.literal.slice(0, SHOWN_DIGITS)}…` : this.literal
  }

  toJSON(): string {
    return this.toString()
  }
}

export const TOO_DEEP = new LossyValues('too_deep', '')

/** Replaces a string beyond its length limit, which was not stored. */
export const tooLong = (characters: number): LossyValues => new LossyValues('too_long', String(characters))

/** Replaces a value with more members and items, at all depths, than allowed. */
export const tooMany = (members: number): LossyValues => new LossyValues('too_many', String(members))

/** Maximum number of integer digits of a finite double. */
const MAX_DIGITS = 309
/** Integers with at most this many digits are exact as doubles. */
const SAFE_DIGITS = 15

/**
 * Parses a JSON number: an integer exactly or as a `LossyValues`, other numbers as the closest double.
 * @param literal already valid by the JSON grammar
 */
export function readNumber(literal: string): number | LossyValues {
  const value = Number(literal)
  if (!Number.isFinite(value)) return new LossyValues('too_large', literal)
  if (literal.length <= SAFE_DIGITS || /[.eE]/.test(literal)) return value
  const exact = literal.length <= MAX_DIGITS + 1 && BigInt(value) === BigInt(literal)
  return exact ? value : new LossyValues('changed', literal)
}
