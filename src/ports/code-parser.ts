import type { CodeSymbol } from '../domain/code/symbols'

export interface SourceText {
  /** Its extension may select the dialect. */
  readonly path: string
  /** As named by `domain/code/languages.ts`. */
  readonly language: string
  readonly text: string
}

/** Finds the declarations in a program's text. */
export interface CodeParser {
  /**
   * Returns symbols in order of their position; none for an unknown language. Never fails: unparsable parts are left out. Its work is
   * bounded for any text, and it yields to other requests between its steps.
   */
  symbols(source: SourceText): Promise<CodeSymbol[]>
}
