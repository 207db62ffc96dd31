// Shared by all trials: the server's address, and an entry with an image that clients must fetch.
export const URL_OF_SERVER = process.env.COMMONPLACE_URL ?? 'http://127.0.0.1:8787/mcp'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** One request without a session. */
async function ask(url, method, params, key) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const text = await response.text()
  return JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)[1]).result
}

/** Returns the answer of a call. */
export const call = async (name, args) =>
  (await ask(URL_OF_SERVER, 'tools/call', { name, arguments: args })).structuredContent

/** @param {string} url @param {string} [key] */
export const namesOfTools = async (url, key) => (await ask(url, 'tools/list', {}, key)).tools.map(({ name }) => name)

/** The id of an entry with one small image. */
export const storeSample = async () =>
  (
    await call('store_context', {
      thread_id: 'clients',
      source: 'user',
      text: `a picture, ${new Date().toISOString()}`,
      images: [{ data: PNG }],
    })
  ).context_id

/** Describes the picture that a model or a program received, in a few words. */
export function told(value) {
  const text = JSON.stringify(value)
  if (
    text.includes('iVBORw0KGgo') &&
    /"(type|mimeType|mime_type|media_type)":"(image|input_image|image_url|image\/png)"/.test(text)
  )
    return 'the image'
  if (/data:image\/png;base64/.test(text)) return 'the image, as a data URL'
  return text.includes('iVBORw0KGgo')
    ? 'its base64 in a text'
    : text.includes('"block"') || text.includes('block')
      ? 'the JSON alone'
      : 'nothing of it'
}
