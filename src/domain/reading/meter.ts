import { STEP } from '../scheduler'

/** Counts what a call searches: when a rest may be due, and when it has searched enough. */
export class Meter {
  private total = 0
  private due = 0

  /**
   * @param rate what searching a character costs in the worst case, in characters read (domain/scheduler)
   * @param allowance characters that may be searched in all
   */
  constructor({ rate, allowance }: { readonly rate: number; readonly allowance: number }) {
    this.rate = rate
    this.allowance = allowance
  }
  private readonly rate: number
  private readonly allowance: number

  /** Notes that so many characters were searched; what to yield for it, or 0 when that is too little to stop for. */
  spend(characters: number): number {
    this.total += characters
    this.due += characters * this.rate
    if (this.due < STEP) return 0
    const units = this.due
    this.due = 0
    return units
  }

  /** Whether so many characters more are allowed. */
  allows(characters: number): boolean {
    return this.total + characters <= this.allowance
  }

  get exhausted(): boolean {
    return this.total >= this.allowance
  }
}
