import type { CodeSymbol } from '../domain/code/symbols'

export interface SourceText {
  /** Its extension may decide about the dialect. */
  readonly path: string
  /** As `domain/code/languages.ts` names it. */
  readonly language: string
  readonly text: string
}

/** Finds what a program's text declares. */
export interface CodeParser {
  /**
   * Symbols in order of their place; none for a language that it does not know. Never fails: what cannot be read is left
   * out. Its work is bounded whatever the text, and others are let in between its steps.
   */
  symbols(source: SourceText): Promise<CodeSymbol[]>
}
