// Splits a note into front matter and body. The `yaml` package parses the YAML; numbers that would lose digits are reported.
import { type Alias, type Document, LineCounter, parseDocument, visit } from 'yaml'
import type { JsonObject, JsonValue } from '../../domain/entry/metadata'
import { MAX_DEPTH } from '../../domain/json/lossy-values'
import { RowProblem } from './values'

export interface Note {
  /** Null where there is none. */
  readonly front: JsonObject | null
  readonly body: string
}

/** Limit of YAML aliases: more can make a small text huge. */
const MOST_ALIASES = 100

/** Limit of nested lists and maps in front matter: those of metadata, and of the levels around them. */
const MOST_LEVELS = MAX_DEPTH + 4

/** @throws RowProblem for unclosed front matter, or if it is not a YAML object; messages count lines from the start of the text */
export function readNote(text: string): Note {
  const lines = text.split(/\r?\n/)
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) return { front: null, body: text }
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)[ \t]*$/.test(line))
  if (end < 0) throw new RowProblem('its front matter, which starts at line 1, is not closed')
  const body = lines.slice(end + 1).join('\n')
  // An empty line replaces the first one, so that line numbers match the file.
  const front = frontOf(['', ...lines.slice(1, end)].join('\n'))
  if (front === null || front === undefined) return { front: {}, body }
  const read = jsonOf(front)
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new RowProblem('its front matter at line 2 is not an object')
  return { front: read, body }
}

/** Lines of Cursor rules, whose values need no quotes there: `globs: *.ts`. */
const RULE_LINE = /^(globs|description):[ \t]+(\S.*?)[ \t]*$/gm

/**
 * Parses the YAML. If it is invalid, the values of `globs` and `description` are read as Cursor reads them: each is the rest of
 * its line.
 *
 * @throws RowProblem
 */
function frontOf(yaml: string): unknown {
  try {
    return meaningOf(yaml)
  } catch (error) {
    const quoted = yaml.replace(RULE_LINE, (line, name: string, value: string) =>
      /^["'|>]/.test(value) ? line : `${name}: ${JSON.stringify(value)}`,
    )
    if (quoted === yaml || !(error instanceof RowProblem)) throw error
    try {
      return meaningOf(quoted)
    } catch {
      throw error
    }
  }
}

/** @throws RowProblem */
function meaningOf(yaml: string): unknown {
  const lineCounter = new LineCounter()
  try {
    const document = parseDocument(yaml, { intAsBigInt: true, uniqueKeys: true, lineCounter })
    const [error] = document.errors
    if (error !== undefined)
      throw new RowProblem(`its front matter is not valid YAML: ${error.message.split('\n')[0]?.replace(/:$/, '')}`)
    visit(document, {
      Alias(_, alias) {
        const reason = reasonAgainst(alias, document)
        if (reason === null) return
        const { line, col } = lineCounter.linePos(alias.range?.[0] ?? 0)
        throw new RowProblem(`its front matter is not valid YAML: ${reason} at line ${line}, column ${col}`)
      },
    })
    return document.toJS({ maxAliasCount: MOST_ALIASES })
  } catch (error) {
    if (error instanceof RowProblem || !(error instanceof Error)) throw error
    // Too many aliases, too deeply nested lists, or an invalid merge key.
    throw new RowProblem(`its front matter, which starts at line 2, is not valid YAML: ${error.message}`)
  }
}

/** Returns why an alias is invalid; null for a valid one. */
function reasonAgainst(alias: Alias, document: Document): string | null {
  const anchored = alias.resolve(document)
  if (anchored === undefined)
    return `*${alias.source} refers to nothing (a value that starts with * needs quotes: "*${alias.source}")`
  const [from = 0] = alias.range ?? []
  const [start = 0, end = 0] = anchored.range ?? []
  return from >= start && from < end ? `*${alias.source} refers to its own parent` : null
}

/** Converts parsed YAML to JSON. @throws RowProblem */
function jsonOf(value: unknown, level = 0): JsonValue {
  if (level > MOST_LEVELS) throw new RowProblem(`its front matter has more than ${MOST_LEVELS} levels`)
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : String(value)
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, level + 1))
  if (typeof value !== 'object') throw new RowProblem('its front matter has a value that JSON does not support')
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonOf(member, level + 1)]))
}

/** Returns the lines outside of code fences; the others become empty, so that line numbers match. */
export function withoutFences(text: string): string {
  let fence: string | null = null
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence === null) {
        if (mark !== undefined) fence = mark
        return mark === undefined ? line.replaceAll(/`[^`]*`/g, '') : ''
      }
      if (mark?.startsWith(fence)) fence = null
      return ''
    })
    .join('\n')
}
