// Decides whether output is colored, and colors it.

const STYLES = /** @type {const} */ ({
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
})

/**
 * True where a person reads the output in a terminal. `NO_COLOR` and `FORCE_COLOR` decide first (https://no-color.org,
 * https://force-color.org); `TERM=dumb` and pipes get plain text.
 *
 * @param {{ isTTY?: boolean }} stream
 * @param {Record<string, string | undefined>} env
 */
export function isColored(stream = process.stdout, env = process.env) {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** Colors a text for standard output, or returns it unchanged. @param {keyof typeof STYLES} style @param {string} text */
export function paint(style, text) {
  if (!isColored()) return text
  const [open, close] = STYLES[style]
  return `\u001b[${open}m${text}\u001b[${close}m`
}
