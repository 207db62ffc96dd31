/**
 * Streams answers to readers that wait. A disconnect is noticed only when something is sent, so a filler goes out every few seconds;
 * where that fails, the answer is cancelled and its resources are released.
 */
export const TICK_MS = 2_000

const utf8 = new TextEncoder()
const TICK = Symbol('nothing yet')

/** Returns the result of a promise, or `TICK` when that takes longer. */
async function soon<T>(work: Promise<T>): Promise<T | typeof TICK> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tick = new Promise<typeof TICK>((resolve) => {
    timer = setTimeout(() => resolve(TICK), TICK_MS)
  })
  try {
    return await Promise.race([work, tick])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns a stream that sends `filler` while it is silent.
 *
 * @param filler bytes without meaning between two parts of the stream
 */
export function ticking(stream: ReadableStream<Uint8Array>, filler: string): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let next: ReturnType<typeof reader.read> | null = null
  return new ReadableStream({
    async pull(controller) {
      next ??= reader.read()
      const part = await soon(next)
      if (part === TICK) return controller.enqueue(utf8.encode(filler))
      next = null
      if (part.done) controller.close()
      else controller.enqueue(part.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The parts of an answer that is not ready yet, after `filler`. */
function partsOf(answer: Promise<Response>, filler: string): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  return new ReadableStream({
    start: (controller) => controller.enqueue(utf8.encode(filler)),
    async pull(controller) {
      reader ??= (await answer).body?.getReader()
      const part = await reader?.read()
      if (part?.value !== undefined) controller.enqueue(part.value)
      else controller.close()
    },
    cancel: (reason) => reader?.cancel(reason),
  })
}

/**
 * Returns an answer in JSON that starts before it is ready when that takes long: white space before JSON has no meaning.
 *
 * @param afterwards keeps the request alive, so that it ends properly if its reader disconnects
 */
export async function whileWaiting(
  answer: Promise<Response>,
  afterwards: (work: Promise<unknown>) => void,
): Promise<Response> {
  const response = await soon(answer)
  if (response !== TICK) return response
  afterwards(answer)
  return new Response(ticking(partsOf(answer, ' '), ' '), { headers: { 'Content-Type': 'application/json' } })
}
