/**
 * Longer texts, in UTF-16 units, stand beside their entry's row: writing a row writes all of it. A hundred rows of this size are
 * some 5 MB, which a database writes in a few dozen milliseconds (platform contract §6).
 */
export const LONG = 16_384

/** Longer texts, in characters, have their beginning beside them where a database would read them whole to cut it. */
export const BEGUN = 100_000

/** So many characters of it: what searches score, show and mark looks no further. */
export const BEGINNING = 60_000

export const isLong = (text: string): boolean => text.length > LONG
