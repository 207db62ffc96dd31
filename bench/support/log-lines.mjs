/**
 * Calls the listeners with a line of the worker's log; anything other than a JSON object is ignored.
 *
 * @param {Set<(event: Record<string, unknown>) => void>} listeners
 * @param {string} line
 */
export function publishLine(listeners, line) {
  if (!line.startsWith('{')) return
  let event
  try {
    event = JSON.parse(line)
  } catch {
    return
  }
  for (const listener of listeners) listener(event)
}
