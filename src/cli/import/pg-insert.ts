// Parses one INSERT of a dump: columns and literals as pg_dump --column-inserts writes them.

type Insert =
  | { readonly state: 'whole'; readonly columns: readonly string[]; readonly values: readonly (string | null)[] }
  /** The statement continues on the next line. */
  | { readonly state: 'open' }
  | { readonly state: 'wrong' }

const HEAD = /^INSERT INTO [^(]*\(([^)]*)\) VALUES \(/

export function readInsert(text: string): Insert {
  const head = HEAD.exec(text)
  if (head === null) return { state: 'wrong' }
  const columns = (head[1] ?? '').split(', ').map((name) => name.replaceAll('"', ''))
  const values: (string | null)[] = []
  let at = head[0].length
  for (;;) {
    const value = literal(text, at)
    if (value === null) return { state: 'open' }
    values.push(value.value)
    const next = text.slice(value.end, value.end + 2)
    if (next === ', ') at = value.end + 2
    else if (next === ');')
      return columns.length === values.length ? { state: 'whole', columns, values } : { state: 'wrong' }
    else return value.end >= text.length ? { state: 'open' } : { state: 'wrong' }
  }
}

/** Parses a literal from a position, and returns where it ends; null if it is not complete. */
function literal(text: string, at: number): { readonly value: string | null; readonly end: number } | null {
  const isEscaped = text.startsWith("E'", at)
  if (!isEscaped && text[at] !== "'") {
    const end = /[,)]/g
    end.lastIndex = at
    const found = end.exec(text)
    if (found === null) return null
    const word = text.slice(at, found.index)
    return { value: word === 'NULL' ? null : word, end: found.index }
  }
  let value = ''
  for (let i = at + (isEscaped ? 2 : 1); i < text.length; i++) {
    const char = text[i] as string
    if (char === "'" && text[i + 1] !== "'") return { value, end: i + 1 }
    if (char === "'") i++
    else if (isEscaped && char === '\\') {
      i++
      value += text[i] === 'n' ? '\n' : text[i] === 't' ? '\t' : text[i] === 'r' ? '\r' : (text[i] ?? '')
      continue
    }
    value += char
  }
  return null
}
