import { foldCase } from './names'

/**
 * Runs of three characters, by which the text index tells files that cannot hold a query. A run is a number of 16 bits, so that
 * whatever a file holds, its list has an end; what two runs share a number costs a look at a file, never a hit.
 */
const SPACE = 65_536
/** A longer query is told apart well enough by as many. */
const MAX_QUERY_GRAMS = 24

const hash = (a: number, b: number, c: number): number => {
  const mixed = Math.imul(Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b) ^ c, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 15)) & (SPACE - 1)
}

/** Distinct runs of a text, in any order; runs do not cross lines. */
export function gramsOf(text: string): number[] {
  const folded = foldCase(text)
  const seen = new Uint8Array(SPACE)
  const found: number[] = []
  let [a, b] = [10, 10]
  for (let i = 0; i < folded.length; i++) {
    const c = folded.charCodeAt(i)
    if (a !== 10 && b !== 10 && c !== 10) {
      const gram = hash(a, b, c)
      if (seen[gram] === 0) {
        seen[gram] = 1
        found.push(gram)
      }
    }
    a = b
    b = c
  }
  return found
}

/** Runs that a file has to hold to hold the query, or null when it is too short to have one. */
export function queryGrams(query: string): number[] | null {
  const all = gramsOf(query)
  if (all.length === 0) return null
  const step = Math.max(1, all.length / MAX_QUERY_GRAMS)
  return Array.from({ length: Math.min(all.length, MAX_QUERY_GRAMS) }, (_, i) => all[Math.floor(i * step)] as number)
}
