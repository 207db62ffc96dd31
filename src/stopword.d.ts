/** Words that hold sentences together, by language; the package has no types of its own. */
declare module 'stopword' {
  type Words = readonly string[]
  export const eng: Words,
    deu: Words,
    fra: Words,
    spa: Words,
    ita: Words,
    por: Words,
    nld: Words,
    swe: Words,
    dan: Words
  export const nob: Words, fin: Words, pol: Words, ces: Words, hrv: Words, rus: Words, tur: Words
}
