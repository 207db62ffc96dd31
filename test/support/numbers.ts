/** A number as written, which `JSON.stringify` writes unchanged; from Node 21. */
export const literal = (digits: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits)
