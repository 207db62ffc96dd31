// What is true when a database has failed? Who reads is told that nothing was changed; who writes only when that is certain.

/** Whether a statement only reads. */
export const isReading = (text: string): boolean =>
  /^\s*(?:SELECT|WITH)\b/.test(text) && !/\b(?:INSERT INTO|DELETE FROM|UPDATE)\b/.test(text)

/** Why the same write may be made again, although it is not known whether it was made. */
const AGAIN =
  'the same call may be made again: a repeated store meets its own entry unless another turn has come between, and a ' +
  'repeated update or delete has no further effect'

/** @param what the failure, without hosts, names or SQL @param wrote whether statements that write were on their way */
export const unanswered = (what: string, wrote: boolean): string =>
  wrote
    ? `${what}, so it is not known whether the change was made; ${AGAIN}`
    : `${what}; nothing was changed, try again`
