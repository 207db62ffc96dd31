// Measures the Worker's own isolate through V8's inspector: its heap, and the bytes of its buffers.

/**
 * Asks again and again; a busy isolate answers when it waits for something.
 *
 * @param {number} port of workerd's inspector
 */
export async function watchHeap(port) {
  const targets = await (await fetch(`http://127.0.0.1:${port}/json`)).json()
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  let [highest, samples, id, stopped] = [0, 0, 0, false]
  const ask = () => socket.send(JSON.stringify({ id: ++id, method: 'Runtime.getHeapUsage' }))
  socket.addEventListener('message', ({ data }) => {
    const { result } = JSON.parse(String(data))
    if (result?.usedSize === undefined) return
    samples++
    highest = Math.max(highest, (result.usedSize + (result.backingStorageSize ?? 0)) / 2 ** 20)
    if (!stopped) setTimeout(ask, 10)
  })
  ask()
  return {
    /** The highest since the last lap, in MB, and of how many samples. */
    lap() {
      const lap = { highest, samples }
      highest = 0
      samples = 0
      return lap
    },
    stop() {
      stopped = true
      socket.close()
    },
  }
}
