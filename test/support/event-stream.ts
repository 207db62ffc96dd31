/** Reads a stream of server-sent events in tests. */
export interface Event {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  /** Whether the block held a comment. */
  readonly comment: boolean
}

export interface EventStream {
  readonly status: number
  readonly headers: Headers
  /** Events so far. */
  readonly seen: readonly Event[]
  /** Resolves when the events satisfy a condition, or the stream has ended. */
  until(enough: (seen: readonly Event[]) => boolean): Promise<readonly Event[]>
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>
  close(): void
}

function parse(block: string): Event {
  const fields: Record<string, string> = {}
  let comment = false
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at === 0) comment = true
    else if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trimStart()
  }
  return { ...fields, comment }
}

export async function openEvents(url: URL | string, headers: Record<string, string>): Promise<EventStream> {
  const controller = new AbortController()
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  })
  const seen: Event[] = []
  const waiting = new Set<() => void>()
  let over = false
  async function read(): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
      text = blocks.pop() as string
      seen.push(...blocks.map(parse))
      for (const look of waiting) look()
    }
  }
  const ended = read()
    .catch(() => {})
    .finally(() => {
      over = true
      for (const look of waiting) look()
    })
  return {
    ...{ status: response.status, headers: response.headers, seen, ended },
    until: (enough) =>
      new Promise((resolve) => {
        const look = () => {
          if (!over && !enough(seen)) return
          waiting.delete(look)
          resolve(seen)
        }
        waiting.add(look)
        look()
      }),
    close: () => controller.abort(),
  }
}
