/** Ways to search code: by meaning, by name, or by literal text. */
export const CODE_MODES = ['semantic', 'symbol', 'text'] as const
export type CodeMode = (typeof CODE_MODES)[number]
