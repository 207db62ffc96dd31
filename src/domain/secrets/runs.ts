/**
 * What stands at places of a text that are asked for in order. A text full of beginnings asks about the same characters again and
 * again; they are read once, so all questions together take time in step with the length of the text.
 */

/** Where runs of characters of one class end. */
export class Runs {
  private from = 0
  private to = -1

  /** @param ofClass sticky, one class repeated, also not at all */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** The end of the run that holds `at`, or `at` where none does. Each place asked for lies behind those before it, or is one of them. */
  endFrom(at: number): number {
    if (at < this.from || at > this.to) {
      this.ofClass.lastIndex = at
      this.ofClass.test(this.text)
      this.from = at
      this.to = this.ofClass.lastIndex
    }
    return this.to
  }
}

/** Where the next character of one class stands. */
export class Nearest {
  private from = 0
  private found = -1

  /** @param ofClass global, one class */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** Whether one stands in a part of the text, whose beginning lies behind those asked for before. */
  isIn(from: number, to: number): boolean {
    if (from < this.from || from > this.found) {
      this.ofClass.lastIndex = from
      this.from = from
      this.found = this.ofClass.test(this.text) ? this.ofClass.lastIndex - 1 : this.text.length
    }
    return this.found < to
  }
}
