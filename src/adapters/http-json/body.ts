/** An answer was larger than anything that was asked for. */
export class TooLarge extends Error {}

/**
 * Text of a response, never holding more than `limit` bytes of it.
 *
 * @throws TooLarge; whatever the connection throws when it breaks
 */
export async function readText(response: Response, limit: number): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw new TooLarge(`more than ${limit} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The beginning of an error page, for the log; an error page that cannot be read is an empty one. */
export async function readExcerpt(response: Response, limit: number): Promise<string> {
  try {
    return await readText(response, limit)
  } catch {
    return ''
  }
}

/** The value, or undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A member of an untrusted value; undefined when there is none. */
export const member = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined

/** An untrusted value as a list; empty when it is none. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
