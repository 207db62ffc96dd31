/** The source of unguessable names, which tests replace. */
export interface Ids {
  /** 32 hexadecimal digits, never the same twice. */
  next(): string
}
