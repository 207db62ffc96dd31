/** Function words by language; the package has no types. */
declare module 'stopword' {
  type Words = readonly string[]
  export const ces: Words, dan: Words, deu: Words, eng: Words, fin: Words, fra: Words, hrv: Words, ita: Words
  export const nld: Words, nob: Words, pol: Words, por: Words, rus: Words, spa: Words, swe: Words, tur: Words
}
