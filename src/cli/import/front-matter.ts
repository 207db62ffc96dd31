// How is a note split into its front matter and its body? YAML by the `yaml` package; numbers are kept or told.
import { parseDocument } from 'yaml'
import type { JsonObject, JsonValue } from '../../domain/entry/metadata'
import { RowProblem } from './values'

export interface Note {
  /** Null where there is none. */
  readonly front: JsonObject | null
  readonly body: string
}

/** Aliases that one may name: more make a small text large. */
const MOST_ALIASES = 100

/** @throws RowProblem for front matter without an end, or that is no YAML object */
export function readNote(text: string): Note {
  const lines = text.split(/\r?\n/)
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) return { front: null, body: text }
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)[ \t]*$/.test(line))
  if (end < 0) throw new RowProblem('its front matter has no end')
  const body = lines.slice(end + 1).join('\n')
  const document = parseDocument(lines.slice(1, end).join('\n'), { intAsBigInt: true, uniqueKeys: true })
  const [error] = document.errors
  if (error !== undefined) throw new RowProblem(`its front matter is no YAML: ${error.message.split('\n')[0]}`)
  const front: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
  if (front === null || front === undefined) return { front: {}, body }
  const read = jsonOf(front)
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new RowProblem('its front matter is no object')
  return { front: read, body }
}

/** What YAML gave, as JSON. @throws RowProblem */
function jsonOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : String(value)
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value !== 'object') throw new RowProblem('its front matter holds what JSON does not know')
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonOf(member)]))
}

/** The lines outside of code fences; the others are empty, so that numbers of lines stay. */
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
