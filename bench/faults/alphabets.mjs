// Texts of a megabyte that are hard to process, one alphabet each.

/** UTF-8 bytes that a text may have. */
export const MEGABYTE = 1_000_000

/** @param {string} text */
const bytes = (text) => Buffer.byteLength(text)

/**
 * A pattern repeated up to a size in UTF-8 bytes.
 *
 * @param {string} pattern
 */
export const repeated = (pattern, size = MEGABYTE) => pattern.repeat(Math.floor(size / bytes(pattern)))

/**
 * Numbers of a seed, for what must not repeat.
 *
 * @param {number} seed
 * @returns {() => number}
 */
function numbers(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state
  }
}

/**
 * Characters drawn from an alphabet.
 *
 * @param {string} alphabet
 * @param {number} seed
 */
function drawn(alphabet, seed, size = MEGABYTE) {
  const chars = [...alphabet]
  const draw = numbers(seed)
  const one = bytes(chars[0] ?? '')
  return Array.from({ length: Math.floor(size / one) }, () => chars[(draw() >>> 8) % chars.length]).join('')
}

/**
 * Distinct words, none of which was seen before.
 *
 * @param {number} seed
 */
function newWords(seed, size = MEGABYTE) {
  const draw = numbers(seed)
  /** @type {string[]} */
  const words = []
  for (let length = 0; length < size - 12; ) {
    const word = draw().toString(36)
    words.push(word)
    length += word.length + 1
  }
  return words.join(' ')
}

const PROSE =
  'On 8 May 2023 the deployment of src/http/server.ts failed: the connection pool was exhausted, as described in ' +
  '`docs/operations.md`. We raised the limit, restarted the workers and watched the dashboards for an hour.\n'

/** @type {Readonly<Record<string, () => string>>} */
export const ALPHABETS = {
  'one letter': () => repeated('a'),
  'hex dump': () => drawn('0123456789abcdef', 1),
  base64url: () => drawn('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', 2),
  'short words': () => repeated('ab '),
  'new words': () => newWords(3),
  'words and dots': () => repeated('a.b-c_'),
  slashes: () => repeated('/a'),
  'slashes and dots': () => repeated('/.'),
  backslashes: () => repeated('\\a.'),
  fences: () => repeated('```\n'),
  'tildes and ticks': () => repeated('~~~a\n```b\n'),
  blanks: () => `a${repeated(' \n\t', MEGABYTE - 2)}b`,
  prose: () => repeated(PROSE),
  Cyrillic: () => drawn('абвгдежзиклмнопрст ', 4, MEGABYTE / 2),
  Han: () => drawn('今天天气很好我们去公园散步然后回家吃饭看书写字睡觉', 5),
  Thai: () => drawn('กขคงจฉชซญดตถทนบปผพ', 6),
  Hangul: () => drawn('가나다라마바사아자차카타파하', 7),
  accents: () => repeated('a\u0301\u0308'),
  emoji: () => repeated('👩‍💻 '),
  'wide forms': () => repeated('Ａｂ１ '),
  ligatures: () => repeated('\uFDFA '),
}
