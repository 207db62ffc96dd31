import { invalidInput } from '../errors'
import { normalizeProject } from '../identity/project'
import { codePointLength, unstorable, utf8Length } from '../text'

/** Limits and paths of files in the code index (fabric contract §9). */
export const MAX_FILE_BYTES = 1_048_576
export const MAX_FILES = 200
export const MAX_CALL_BYTES = 20 * 1_048_576
export const MAX_PROJECT_FILES = 10_000
const MAX_PATH = 1024
/** Maximum UTF-8 bytes of a root, which is part of a database index. */
const MAX_ROOT = 500
/** A file with a NUL in this many first bytes is binary. */
const BINARY_BYTES = 8192

/** Validates the root that paths of a call are relative to; empty for none. @throws Problem invalid_input */
export function checkRoot(given: string): string {
  const root = given.trim()
  const flaw = unstorable(root)
  if (flaw !== null) throw invalidInput(`root ${flaw}`)
  if (utf8Length(root) > MAX_ROOT) throw invalidInput(`root has more than ${MAX_ROOT} bytes`)
  return root
}

type NormalPath = { readonly path: string } | { readonly reason: string }

const slashed = (path: string): string => path.replaceAll('\\', '/')

/**
 * Normalizes a path for the index: relative, with `/`.
 * @param project its key, removed from the start where it is a path
 */
export function normalizePath(given: string, project: string): NormalPath {
  const flaw = unstorable(given)
  if (flaw !== null) return { reason: `the path ${flaw}` }
  let path = slashed(given.trim().replace(/^file:\/\//, ''))
  // The key `/` remains as it is.
  const key = slashed(normalizeProject(project) ?? project)
  const root = key.endsWith('/') ? key : `${key}/`
  if (root !== '/' && path.startsWith(root)) path = path.slice(root.length)
  if (path.startsWith('/') || /^[A-Za-z]:\//.test(path))
    return { reason: 'the path is not inside the project; send it relative to its root' }
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { reason: 'the path contains ".."' }
  if (parts.length === 0) return { reason: 'the path is empty' }
  path = parts.join('/')
  if (codePointLength(path) > MAX_PATH) return { reason: `the path has more than ${MAX_PATH} characters` }
  return { path }
}

/** The reason why a content is not indexed; null if it is. */
export function contentProblem(content: string): string | null {
  const nul = content.indexOf('\u0000')
  if (nul >= 0 && utf8Length(content.slice(0, nul)) < BINARY_BYTES) return 'binary'
  if (utf8Length(content) > MAX_FILE_BYTES) return `larger than ${MAX_FILE_BYTES} bytes`
  const flaw = unstorable(content)
  return flaw === null ? null : `the content ${flaw}`
}

/**
 * File patterns (fabric contract §9): `*` within a folder, `**` across folders or none, `?`, `[abc]`, `{ts,tsx}`; a
 * pattern without `/` matches base names. A set of states moves through the pattern, so the work is at most the length
 * of the path times that of the pattern.
 */

/** Maximum number of alternatives after expanding all braces. */
const MAX_ALTERNATIVES = 100

type Step =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] }
  /** Any number of characters within a name. */
  | { readonly kind: 'star' }
  /** Any number of characters, `/` included. */
  | { readonly kind: 'globstar' }
  /** Nothing, or complete folders with the `/` after them. */
  | { readonly kind: 'folders' }

/** Expands the braces of a pattern. */
function alternatives(pattern: string): string[] {
  const open = pattern.indexOf('{')
  if (open < 0) return [pattern]
  let depth = 0
  let [from, close] = [open + 1, -1]
  const parts: string[] = []
  for (let i = open; i < pattern.length; i++) {
    if (pattern[i] === '{') depth++
    else if (pattern[i] === '}' && --depth === 0) {
      parts.push(pattern.slice(from, i))
      close = i
      break
    } else if (pattern[i] === ',' && depth === 1) {
      parts.push(pattern.slice(from, i))
      from = i + 1
    }
  }
  if (close < 0) throw invalidInput('filePattern has a { without a closing }')
  const [head, tail] = [pattern.slice(0, open), pattern.slice(close + 1)]
  const read: string[] = []
  for (const part of parts) {
    read.push(...alternatives(`${head}${part}${tail}`))
    if (read.length > MAX_ALTERNATIVES)
      throw invalidInput(`filePattern has more than ${MAX_ALTERNATIVES} alternatives in braces`)
  }
  return read
}

function readClass(chars: readonly string[], at: number): { step: Step; next: number } | null {
  const negated = chars[at + 1] === '!' || chars[at + 1] === '^'
  const first = at + (negated ? 2 : 1)
  const end = chars.indexOf(']', first + 1)
  if (end < 0) return null
  const ranges: [string, string][] = []
  for (let i = first; i < end; i++) {
    const isRange = chars[i + 1] === '-' && i + 2 < end
    ranges.push([chars[i] as string, chars[isRange ? i + 2 : i] as string])
    if (isRange) i += 2
  }
  return { step: { kind: 'class', negated, ranges }, next: end + 1 }
}

function readSteps(pattern: string): Step[] {
  const chars = [...pattern]
  const steps: Step[] = []
  for (let i = 0; i < chars.length; ) {
    const char = chars[i] as string
    const atStart = i === 0 || chars[i - 1] === '/'
    if (char === '*' && chars[i + 1] === '*') {
      while (chars[i] === '*') i++
      if (atStart && chars[i] === '/') {
        steps.push({ kind: 'folders' })
        i++
      } else steps.push({ kind: 'globstar' })
      continue
    }
    const set = char === '[' ? readClass(chars, i) : null
    if (set !== null) steps.push(set.step)
    else if (char === '*') steps.push({ kind: 'star' })
    else steps.push(char === '?' ? { kind: 'any' } : { kind: 'char', char })
    i = set?.next ?? i + 1
  }
  return steps
}

function takes(step: Step, char: string): boolean {
  if (step.kind === 'char') return step.char === char
  if (char === '/') return false
  if (step.kind === 'any') return true
  return step.kind === 'class' && step.ranges.some(([low, high]) => char >= low && char <= high) !== step.negated
}

function matches(steps: readonly Step[], chars: readonly string[]): boolean {
  let places = new Uint8Array(steps.length + 1)
  /** Activates a state, and those reachable without a character. */
  const enter = (into: Uint8Array, at: number): void => {
    for (let place = at; into[place] === 0; place++) {
      into[place] = 1
      if (place === steps.length || !/^(star|globstar|folders)$/.test((steps[place] as Step).kind)) return
    }
  }
  enter(places, 0)
  for (const [i, char] of chars.entries()) {
    const next = new Uint8Array(steps.length + 1)
    for (let place = 0; place < steps.length; place++) {
      if (places[place] === 0) continue
      const step = steps[place] as Step
      if (step.kind === 'star') {
        if (char !== '/') enter(next, place)
      } else if (step.kind === 'globstar') enter(next, place)
      else if (step.kind === 'folders') {
        next[place] = 1
        if (char === '/') enter(next, place)
        if (char === '/' && i > 0) enter(next, place + 1)
      } else if (takes(step, char)) enter(next, place + 1)
    }
    places = next
  }
  return places[steps.length] === 1
}

/**
 * Compiles a file pattern to a test of paths.
 * @throws Problem invalid_input for an unclosed brace or too many alternatives
 */
export function createGlob(pattern: string): (path: string) => boolean {
  const normal = pattern
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\.?\//, '')
  const ofNames = !normal.includes('/')
  const readings = alternatives(normal).map(readSteps)
  return (path) => {
    const chars = [...(ofNames ? path.slice(path.lastIndexOf('/') + 1) : path)]
    return readings.some((steps) => matches(steps, chars))
  }
}
