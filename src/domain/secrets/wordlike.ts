/** The pairs of letters that English words and identifiers are mostly made of. */
const COMMON_PAIRS =
  'abacadagaialamanaparasatauaybabebiblbobrbucacechcickclcocrctcudadedidodsdueaecedeeefegelemeneperesetevexfafefifogeghgigrguhahehihohti' +
  'aibicidieifigiliminioipirisitivkekikslaldlelilllolslulymamemimompnancndnengninonsntocodolomonoooporosotouovowpapepiplpoppprptqurarcrdr' +
  'erirmrorrrsrtrurysascseshsisospssstsutatctethtitotrtstttutyucueulumunupurusutvaveviwawewhwixp'
const COMMON = new Set(COMMON_PAIRS.match(/../g))

const LONGEST = 64
const LEAST_COMMON = 0.7
/** Words of identifiers are shorter than those of texts; random letters of both cases change case after two. */
const LEAST_LETTERS_A_WORD = 3.5

/**
 * Whether letters look like words or an identifier, not like random characters. Digits and signs only separate words.
 *
 * @param value its first 64 characters are judged
 */
export function isWordlike(value: string): boolean {
  const words = value.slice(0, LONGEST).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)
  if (words === null) return false
  let [letters, pairs, common] = [0, 0, 0]
  for (const word of words) {
    letters += word.length
    pairs += word.length - 1
    const low = word.toLowerCase()
    for (let i = 1; i < low.length; i++) if (COMMON.has(low.slice(i - 1, i + 1))) common++
  }
  return pairs > 0 && letters / words.length >= LEAST_LETTERS_A_WORD && common / pairs >= LEAST_COMMON
}
