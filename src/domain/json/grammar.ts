/** The letters of JSON (RFC 8259). */
export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
export const SCALARS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
])

export const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
/** Letters, digits, `+`, `-` and `.`: what numbers, `true`, `false` and `null` are made of. */
export const isScalar = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x45 ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x2e
