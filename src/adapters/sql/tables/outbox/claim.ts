/** A claim that nobody held on to for this long belongs to a worker that died: no single step of work takes half of it. */
export const CLAIM_MS = 120_000
