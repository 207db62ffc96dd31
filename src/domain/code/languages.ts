/** Determines the language of a file from its name (fabric contract §9). */
const EXTENSIONS: Readonly<Record<string, string>> = {
  typescript: 'ts tsx mts cts',
  javascript: 'js jsx mjs cjs',
  python: 'py pyi pyw',
  rust: 'rs',
  go: 'go',
  java: 'java',
  csharp: 'cs csx',
  ruby: 'rb rake gemspec',
  c: 'c h',
  cpp: 'cpp cc cxx c++ hpp hh hxx h++ inl ipp',
  php: 'php',
  kotlin: 'kt kts',
  swift: 'swift',
  scala: 'scala sc',
  dart: 'dart',
  lua: 'lua',
  perl: 'pl pm',
  r: 'r',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  haskell: 'hs',
  clojure: 'clj cljs cljc',
  zig: 'zig',
  vue: 'vue',
  svelte: 'svelte',
  html: 'html htm',
  css: 'css',
  scss: 'scss sass',
  less: 'less',
  json: 'json jsonc json5',
  yaml: 'yaml yml',
  toml: 'toml',
  xml: 'xml',
  markdown: 'md mdx markdown',
  sql: 'sql',
  shell: 'sh bash zsh fish',
  powershell: 'ps1 psm1',
  graphql: 'graphql gql',
  protobuf: 'proto',
}

const BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, list]) =>
    list.split(' ').map((ending) => [ending, language] as const),
  ),
)

const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ts: 'typescript',
    tsx: 'typescript',
    js: 'javascript',
    jsx: 'javascript',
    py: 'python',
    rs: 'rust',
    golang: 'go',
    'c++': 'cpp',
    'c#': 'csharp',
    cs: 'csharp',
    rb: 'ruby',
    md: 'markdown',
    yml: 'yaml',
    sh: 'shell',
    bash: 'shell',
    kt: 'kotlin',
  }),
)

/** The extension of a path in lower case, without the dot; empty without one. */
export function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.')
  return dot > path.lastIndexOf('/') ? path.slice(dot + 1).toLowerCase() : ''
}

/** The stored form of a language, from any spelling. */
export const normalizeLanguage = (name: string): string => {
  const folded = name.trim().toLowerCase()
  return ALIASES.get(folded) ?? folded
}

/** Levenshtein distance of two words. */
function lettersBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, changed))
    }
    row = next
  }
  return row[b.length] as number
}

const LONGEST_WORD = 20
const MOST_NEAR = 3
const OFTEN = 6

/**
 * The warning about a language without a known file extension; null for a known one.
 * @param language in the form of `normalizeLanguage`
 */
export function unknownLanguage(language: string): string | null {
  const names = [...Object.keys(EXTENSIONS), 'text']
  if (names.includes(language)) return null
  const ofEnding = BY_EXTENSION.get(language.replace(/^\./, ''))
  const isWord = language.length <= LONGEST_WORD
  const near = names
    .map((name) => ({ name, away: isWord ? lettersBetween(language, name) : LONGEST_WORD }))
    .filter(({ name, away }) => away <= 2 && away < name.length - 1)
    .sort((a, b) => a.away - b.away)
    .map(({ name }) => name)
  const meant = ofEnding === undefined ? near.slice(0, MOST_NEAR) : [ofEnding]
  const known =
    meant.length > 0
      ? `similar: ${meant.join(', ')}`
      : `known languages: ${names.slice(0, OFTEN).join(', ')} and others`
  return `no file extension belongs to the language "${language.slice(0, 40)}"; ${known}`
}

/** The language of a file by its extension; `text` for an unknown one. */
export const languageOf = (path: string): string => BY_EXTENSION.get(extensionOf(path)) ?? 'text'

/** Other spellings that `normalizeLanguage` accepts for a language. */
export const spellingsOf = (language: string): string[] =>
  [...ALIASES.keys()].filter((spelling) => ALIASES.get(spelling) === language)
