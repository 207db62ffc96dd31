/** A number as it is written, which `JSON.stringify` sends letter by letter; in Node from 21 on. */
export const literal = (digits: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits)
