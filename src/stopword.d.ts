/** Words that hold sentences together, by language; the package has no types of its own. */
declare module 'stopword' {
  type Words = readonly string[]
  export const ara: Words,
    cat: Words,
    ces: Words,
    dan: Words,
    deu: Words,
    ell: Words,
    eng: Words,
    eus: Words,
    fin: Words
  export const fra: Words,
    gle: Words,
    hin: Words,
    hrv: Words,
    hun: Words,
    hye: Words,
    ita: Words,
    nld: Words,
    nob: Words
  export const pol: Words, por: Words, ron: Words, rus: Words, spa: Words, swe: Words, tur: Words
}
