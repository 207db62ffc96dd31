// How does a statement become text? drizzle-orm writes each fragment apart and joins them again level by level, which took an eighth of
// what a call for the moment takes in the Worker; here all are written in one go.
import { Param, SQL, StringChunk } from 'drizzle-orm'

/**
 * The text of a statement made of texts, values and other statements.
 *
 * @param place gives what stands for a value, in the order in which values come; it is told the last words of text before the value
 */
export function render(statement: SQL, place: (value: unknown, before: string) => string): string {
  let text = ''
  let before = ''
  const write = (chunk: unknown): void => {
    if (chunk instanceof StringChunk)
      for (const part of chunk.value) {
        text += part
        before = part
      }
    else if (chunk instanceof SQL) for (const part of chunk.queryChunks) write(part)
    else if (chunk !== undefined) text += place(chunk instanceof Param ? chunk.value : chunk, before)
  }
  write(statement)
  return text
}
