/**
 * Longer texts, in UTF-16 units, stand beside their entry's row: writing a row writes all of it. A hundred rows of this size are
 * some 5 MB, which a database writes in a few dozen milliseconds (platform contract §6).
 */
const LONG = 16_384

/**
 * So many characters of a text are what searches score, show and mark. Of a text of more than 100,000 they stand by themselves where a
 * database would read it whole to cut them.
 */
export const PREVIEW_LENGTH = 60_000

export const isLong = (text: string): boolean => text.length > LONG
