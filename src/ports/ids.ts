/** Where names that nobody can guess come from, so that tests own them. */
export interface Ids {
  /** 32 hexadecimal digits, never the same twice. */
  next(): string
}
