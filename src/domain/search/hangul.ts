/** Korean writes particles behind nouns without a space: `Hermes는`, `서버에서`. */
const HANGUL = /\p{Script=Hangul}/u
const PARTICLES = '에서는|에서|에게|으로|까지|부터|처럼|보다|은|는|이|가|을|를|에|의|로|와|과|도|만'
const IS_PARTICLE = new RegExp(`^(?:${PARTICLES})$`, 'u')
/** Behind two syllables at least, since shorter words end in such a syllable by themselves. */
const ENDS_IN_PARTICLE = new RegExp(`(?<=\\p{Script=Hangul}{2})(?:${PARTICLES})$`, 'u')
const BEFORE_HANGUL = /(?<=[^\p{Script=Hangul}])(?=\p{Script=Hangul})/u

/** A folded word, cut where Hangul follows other letters. */
export const hangulParts = (word: string): string[] => (HANGUL.test(word) ? word.split(BEFORE_HANGUL) : [word])

export const isParticle = (word: string): boolean => HANGUL.test(word) && IS_PARTICLE.test(word)

/** A term without the particle that it ends in. */
export const withoutParticle = (term: string): string => (HANGUL.test(term) ? term.replace(ENDS_IN_PARTICLE, '') : term)
