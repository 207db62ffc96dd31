import { STEP } from '../scheduler'

/** Measures the search of a call, to pause it and to end it at its limit. */
export class Meter {
  private total = 0
  private due = 0

  /**
   * @param rate worst-case cost per character, in characters read (domain/scheduler)
   * @param allowance maximum number of characters
   */
  constructor({ rate, allowance }: { readonly rate: number; readonly allowance: number }) {
    this.rate = rate
    this.allowance = allowance
  }
  private readonly rate: number
  private readonly allowance: number

  /** Adds searched characters. @returns the cost to yield, or 0 if it is too small for a pause */
  spend(characters: number): number {
    this.total += characters
    this.due += characters * this.rate
    if (this.due < STEP) return 0
    const units = this.due
    this.due = 0
    return units
  }

  /** Whether this many further characters are allowed. */
  allows(characters: number): boolean {
    return this.total + characters <= this.allowance
  }

  get exhausted(): boolean {
    return this.total >= this.allowance
  }
}
