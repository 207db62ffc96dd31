import type { Token } from '../search/analysis'
import { HUMP } from './names'

const IDENTIFIER = /[\p{L}\p{N}_$]+/gu

/** Code as it is read for words: the parts of a camelCase name stand behind it. Parts between `_` are words anyway. */
export const codeWords = (text: string): string =>
  text.replace(IDENTIFIER, (name) => {
    const parts = name.replace(HUMP, ' ')
    return parts === name ? name : `${name} ${parts}`
  })

/** How many words carry content. */
export const contentLength = (tokens: readonly Token[]): number =>
  tokens.reduce((count, { isStopWord }) => count + (isStopWord ? 0 : 1), 0)
