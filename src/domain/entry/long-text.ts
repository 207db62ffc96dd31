/**
 * Length in UTF-16 units beyond which a text is stored in its own table, because writing a row writes all of it. A
 * hundred rows of this size are about 5 MB (platform contract §6).
 */
const LONG = 16_384

/**
 * Length of the preview of a text that searches score, show and highlight. The preview of a text of more than 100,000
 * characters is stored separately if the database would read the complete text to cut it.
 */
export const PREVIEW_LENGTH = 60_000

export const isLong = (text: string): boolean => text.length > LONG
