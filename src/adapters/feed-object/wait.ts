import type { Millis } from '../../domain/time'
import type { Listener, Woken } from '../../ports/change-bell'

/** One who waits, since a mark, as it is sent. */
export interface Wait {
  readonly listener: Listener
  readonly since: string
}

/** Until the bell rings, or so long; the object need not be in memory meanwhile. @throws when the object breaks off */
export async function waited(
  object: { fetch(address: string, init: RequestInit): Promise<Response> },
  wait: Wait,
  ms: Millis,
): Promise<Woken> {
  const { webSocket: socket } = await object.fetch('https://feed/', { headers: { upgrade: 'websocket' } })
  if (socket === null) throw new Error('the feed object gave no socket')
  socket.accept()
  const { promise, resolve, reject } = Promise.withResolvers<Woken>()
  const timer = setTimeout(() => resolve({ notified: false, mark: wait.since }), ms)
  socket.addEventListener('message', ({ data }) => resolve({ notified: true, mark: String(data) }))
  const brokenOff = () => reject(new Error('the feed object broke off a wait'))
  socket.addEventListener('close', brokenOff)
  socket.addEventListener('error', brokenOff)
  socket.send(JSON.stringify(wait))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}
