/** Between two sentences. */
const BETWEEN = /(?<=[.!?…]["'”’»)]?)\s+|\n+/u

export const sentencesOf = (text: string): string[] => text.split(BETWEEN)
