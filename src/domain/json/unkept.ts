/**
 * Numbers, depths and lengths that cannot be kept as they were sent. A mark stands in their place in the parsed value, so that
 * whoever reads that part can say where it is; whoever meets one refuses it.
 */

/** Levels of objects and lists in one argument (platform contract §6); databases read JSON to a depth of their own (SQLite: 1,000). */
export const MAX_DEPTH = 500

type Flaw = 'changed' | 'too_large' | 'too_deep' | 'too_long' | 'too_many'

const REASONS: Readonly<Record<Flaw, (literal: string) => string>> = {
  changed: (literal) => `is the integer ${literal}, whose digits a JSON number cannot keep; send it as a string`,
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

  /** What is wrong with it, to be said after its name. */
  get reason(): string {
    return REASONS[this.flaw](this.toString())
  }

  /** As it was sent, where that is not too long. */
  toString(): string {
    return this.literal.length > SHOWN_DIGITS ? `${this.literal.slice(0, SHOWN_DIGITS)}…` : this.literal
  }

  toJSON(): string {
    return this.toString()
  }
}

export const TOO_DEEP = new LossyValues('too_deep', '')

/** Stands for a string of which no more than its length was looked at. */
export const tooLong = (characters: number): LossyValues => new LossyValues('too_long', String(characters))

/** Replaces a value that has more members and items, at all depths, than are read. */
export const tooMany = (members: number): LossyValues => new LossyValues('too_many', String(members))

/** A double below 2^1024 has no more digits than this before its point. */
const MAX_DIGITS = 309
/** Every integer of so many digits is a double. */
const SAFE_DIGITS = 15

/**
 * The number that a JSON literal stands for: an integer exactly or not at all, a fraction or an exponent as the nearest
 * double.
 *
 * @param literal already known to be a number of JSON's grammar
 */
export function readNumber(literal: string): number | LossyValues {
  const value = Number(literal)
  if (!Number.isFinite(value)) return new LossyValues('too_large', literal)
  if (literal.length <= SAFE_DIGITS || /[.eE]/.test(literal)) return value
  const exact = literal.length <= MAX_DIGITS + 1 && BigInt(value) === BigInt(literal)
  return exact ? value : new LossyValues('changed', literal)
}
