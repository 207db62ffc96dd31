// Edits an entry in a client's own file and preserves the rest of it, including comments.
import { isDeepStrictEqual } from 'node:util'
import { applyEdits, modify, parse as parseJson, visit } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'

/** A file that cannot be parsed; it is not changed. */
export class Unreadable extends Error {}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Byte order mark that Windows editors write; clients ignore it. */
const BYTE_ORDER_MARK = '\ufeff'

/** Yields every text in a client's file, at any depth. @param {string} text @param {boolean} isToml @throws {Unreadable} */
export function textsIn(text, isToml) {
  /** @type {(value: unknown) => string[]} */
  const textsOf = (value) =>
    typeof value === 'string'
      ? [value]
      : typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(textsOf)
        : []
  const errors = []
  try {
    const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
    const found = textsOf(isToml ? parseToml(text) : parseJson(json, errors, { allowTrailingComma: true }))
    if (errors.length === 0) return found
  } catch {
    // Reported below.
  }
  throw new Unreadable(`it is not ${isToml ? 'TOML' : 'JSON'}`)
}

/** Returns the indentation of the file's first indented line: tabs or spaces. */
function indentation(text) {
  const first = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  return first.startsWith('\t') ? { insertSpaces: false, tabSize: 1 } : { insertSpaces: true, tabSize: first.length }
}

/**
 * Refuses a file with a duplicate key on the path to the entry: clients differ in which one they read.
 *
 * @param {string} source @param {readonly string[]} path @throws {Unreadable}
 */
function refuseDoubled(source, path) {
  /** @type {Set<string>[]} */
  const seen = []
  visit(source, {
    onObjectBegin: () => void seen.push(new Set()),
    onObjectEnd: () => void seen.pop(),
    onObjectProperty: (name, _offset, _length, _line, _character, pathOf) => {
      const parents = pathOf()
      const isOnTheWay = parents.length < path.length && parents.every((one, i) => one === path[i])
      if (!isOnTheWay) return
      if (seen.at(-1)?.has(name))
        throw new Unreadable(
          `"${[...parents, name].join('.')}" is in it twice; remove one of the two and run this again`,
        )
      seen.at(-1)?.add(name)
    },
  })
}

/** Returns the value at a path of a JSON file; undefined if it does not exist, or the file cannot be read. @param {string} text @param {readonly string[]} path */
export const valueInJson = (text, path) =>
  path.reduce(
    (at, name) => (isObject(at) ? at[name] : undefined),
    parseJson(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, [], { allowTrailingComma: true }),
  )

/**
 * @param {string} text of the file; empty for none
 * @param {readonly string[]} path names that lead to the entry
 * @param {object | boolean | undefined} entry undefined removes it
 */
export function mergeJson(text, path, entry) {
  if (text.startsWith(BYTE_ORDER_MARK)) return BYTE_ORDER_MARK + mergeJson(text.slice(1), path, entry)
  const source = text.trim() === '' ? '{}\n' : text
  refuseDoubled(source, path)
  const errors = []
  let at = parseJson(source, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(at)) throw new Unreadable('it is not a JSON object')
  for (const name of path.slice(0, -1)) {
    at = at?.[name]
    if (at !== undefined && !isObject(at)) throw new Unreadable(`"${name}" in it is not an object`)
  }
  if (isDeepStrictEqual(at?.[path.at(-1) ?? ''], entry)) return text
  const eol = source.includes('\r\n') ? '\r\n' : '\n'
  return applyEdits(source, modify(source, [...path], entry, { formattingOptions: { ...indentation(source), eol } }))
}

/** Returns whether a line starts the table of the entry, or one below it. */
function isOwnHeader(line, path) {
  const match = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)
  if (match === null) return false
  const names = match[1].split('.').map((name) => name.trim().replace(/^["']|["']$/g, ''))
  return path.every((name, i) => names[i] === name)
}

const isHeader = (line) => /^\s*\[/.test(line)

const quoted = (name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))

/** Formats a value of an entry on one line: TOML writes texts, numbers and lists of these as JSON does. */
const inline = (value) =>
  isObject(value)
    ? `{ ${Object.entries(value)
        .map(([name, one]) => `${quoted(name)} = ${inline(one)}`)
        .join(', ')} }`
    : JSON.stringify(value)

const named = (name) => `(?:${name}|"${name}"|'${name}')`

/** Returns the text with the entry as a table at its end, without its old form: a table, or a line in the parent table. */
function withTable(text, path, table) {
  const [holder, name] = [path.slice(0, -1), path.at(-1) ?? '']
  const own = new RegExp(`^\\s*${named(name)}\\s*[.=]`)
  const dotted = new RegExp(`^\\s*${holder.map(named).join('\\s*\\.\\s*')}\\s*\\.\\s*${named(name)}\\s*[.=]`)
  const kept = []
  // Blank lines and comments after the last line of the entry: they belong to what follows, unless that belongs to the entry too.
  let behind = []
  let [isOwn, isHolder, isRoot] = [false, false, true]
  for (const line of text.split('\n')) {
    if (isOwn && /^\s*(?:#|$)/.test(line)) {
      const isDoubled = line.trim() === '' && behind.length === 0 && (kept.at(-1) ?? '').trim() === ''
      if (!isDoubled) behind.push(line)
      continue
    }
    if (isHeader(line)) {
      isRoot = false
      isOwn = isOwnHeader(line, path)
      isHolder = isOwnHeader(line, holder) && !isOwnHeader(line, path) && /^\s*\[[^.[\]]*\]/.test(line)
    }
    const isLine = (isHolder && own.test(line)) || (isRoot && dotted.test(line))
    if (!isOwn && !isLine) kept.push(...behind, line)
    behind = []
  }
  const rest = [...kept, ...behind].join('\n').trimEnd()
  return `${rest === '' ? '' : `${rest}\n\n`}${table.trimEnd()}\n`
}

/** Returns the text with a replaced one-line table (`mcp_servers = { … }`), made of its other entries. */
function changedLine(text, path, made) {
  const [holder = '', name = ''] = path
  const line = new RegExp(`^(\\s*${named(holder)}\\s*=\\s*\\{)(.*)(\\}\\s*(?:#.*)?)$`, 'm')
  const was = new RegExp(`(^|,)\\s*${named(name)}\\s*=\\s*\\{(?:[^{}]|\\{[^{}]*\\})*\\}\\s*(?=,|$)`)
  return text.replace(line, (_, begin, inside, end) =>
    made(begin, inside.replace(was, '').replace(/^\s*,/, '').trim(), end),
  )
}

const withoutInLine = (text, path) => changedLine(text, path, (begin, others, end) => `${begin} ${others} ${end}`)

/** Returns the text with the entry in a one-line table. */
function withinLine(text, path, entry) {
  const name = path.at(-1) ?? ''
  return changedLine(text, path, (begin, others, end) => {
    return `${begin} ${others}${others === '' ? '' : ', '}${quoted(name)} = ${inline(entry)} ${end}`
  })
}

/**
 * @param {string} text of the file; empty for none
 * @param {readonly string[]} path
 * @param {string} table the entry as TOML
 */
export function mergeToml(text, path, table) {
  const before = readToml(text)
  const find = (tree) => path.reduce((at, name) => at?.[name], tree)
  const entry = find(readToml(table))
  if (isDeepStrictEqual(find(before), entry)) return text
  // Verifies that nothing else has changed, whatever the style of the file.
  const [own, name] = [path.slice(0, -1), path.at(-1)]
  const without = (tree) => {
    const copy = structuredClone(tree)
    const holder = own.reduce((at, key) => at?.[key], copy)
    if (holder) delete holder[name ?? '']
    if (holder && Object.keys(holder).length === 0 && own.length === 1) delete copy[own[0]]
    return copy
  }
  const isRight = (merged) => {
    try {
      const after = parseToml(merged)
      return isDeepStrictEqual(without(before), without(after)) && isDeepStrictEqual(find(after), entry)
    } catch {
      return false
    }
  }
  const merged = [withTable(text, path, table), withinLine(text, path, entry)].find(isRight)
  if (merged === undefined) throw new Unreadable(`its ${path.join('.')} is written in a way that cannot be replaced`)
  return merged
}

/** The value at a path of a TOML file. @param {string} text @param {readonly string[]} path @throws {Unreadable} */
export const valueInToml = (text, path) => valueAt(readToml(text), path)

/** @param {any} tree @param {readonly string[]} path @returns {any} */
const valueAt = (tree, path) => path.reduce((at, name) => at?.[name], tree)

/**
 * Removes an entry from the file.
 *
 * @param {string} text
 * @param {readonly string[]} path
 */
export function removeToml(text, path) {
  const before = readToml(text)
  const [own, name = ''] = [path.slice(0, -1), path.at(-1)]
  const expected = structuredClone(before)
  delete valueAt(expected, own)[name]
  const without = [withTable(text, path, ''), withoutInLine(text, path)].find((one) => {
    try {
      // A copy, like the other: the parser's own tables have no prototype.
      const after = structuredClone(parseToml(one))
      // The table above an entry may end with its last one.
      const [holder, left] = [valueAt(after, own), valueAt(expected, own)]
      if (holder === undefined && Object.keys(left).length === 0) delete expected[own[0] ?? '']
      return isDeepStrictEqual(after, expected)
    } catch {
      return false
    }
  })
  if (without === undefined) throw new Unreadable(`its ${path.join('.')} is written in a way that cannot be removed`)
  return without
}

function readToml(text) {
  try {
    return parseToml(text)
  } catch (error) {
    throw new Unreadable(`it is not valid TOML (${error.message.split('\n')[0]})`)
  }
}
