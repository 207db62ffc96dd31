// Reads the memory that a scripted model received.

/** Every string of a value. @returns {string[]} */
const stringsOf = (value) =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsOf)
      : []

/** Returns the text between the marks of the start in a request. */
export const startsIn = (body) =>
  stringsOf(body).flatMap((text) => text.match(/<commonplace-memory>[\s\S]*?<\/commonplace-memory>/g) ?? [])

/** Requests of the session itself: those that declare tools. */
export const requestsOf = ({ seen }) => seen.bodies.filter(({ tools }) => Array.isArray(tools) && tools.length > 0)
