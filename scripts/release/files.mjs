// Edits the files of a release: the version in each file, the changelog, and the record of the schema that the
// next release must support.
import { createHash } from 'node:crypto'

export class Refused extends Error {}

/** Semantic Versioning 2.0.0, without build metadata. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?$/

/** @param {string} text @returns {{ numbers: number[], pre: string[] }} */
function read(text) {
  const found = VERSION.exec(text)
  if (found === null) throw new Refused(`${text} is not a version; use the form 1.0.0 or 1.0.0-rc.1`)
  return { numbers: found.slice(1, 4).map(Number), pre: found[4]?.split('.') ?? [] }
}

/** Compares by the precedence of Semantic Versioning §11. @param {string} a @param {string} b */
export function isNewer(a, b) {
  const [left, right] = [read(a), read(b)]
  for (const [i, number] of left.numbers.entries()) if (number !== right.numbers[i]) return number > right.numbers[i]
  if (left.pre.length === 0 || right.pre.length === 0) return left.pre.length === 0 && right.pre.length > 0
  for (let i = 0; ; i++) {
    const [one, other] = [left.pre[i], right.pre[i]]
    if (one === undefined || other === undefined) return other === undefined && one !== undefined
    if (one === other) continue
    const [isNumber, isOther] = [one, other].map((part) => /^\d+$/.test(part))
    if (isNumber && isOther) return Number(one) > Number(other)
    return isNumber === isOther ? one > other : isOther
  }
}

/** Files that contain the version, in addition to package-lock.json, with the number of occurrences. @type {Readonly<Record<string, number>>} */
const PLACES = {
  'package.json': 1,
  'src/domain/about.ts': 1,
  'server.json': 2,
  'mcpb/manifest.json': 1,
  '.claude-plugin/marketplace.json': 2,
  'plugins/agent-plugin/plugin.json': 1,
  'plugins/agent-plugin/hook.mjs': 1,
  'plugins/commonplace/.claude-plugin/plugin.json': 1,
  'plugins/commonplace/.codex-plugin/plugin.json': 1,
  'plugins/commonplace/.cursor-plugin/plugin.json': 1,
  'plugins/commonplace/hook.mjs': 1,
  'plugins/source/bridge.mjs': 1,
}

/** Files that a release reads and changes, in addition to the migrations. */
export const FILES = ['CHANGELOG.md', 'package-lock.json', ...Object.keys(PLACES)]

/** @param {string} text @param {string} from @param {string} to @param {string} file */
function stamped(text, from, to, file) {
  const place = new RegExp(`(\\bversion"?: ["'])${from.replaceAll('.', '\\.')}(["'])`, 'g')
  const found = text.match(place)?.length ?? 0
  if (found !== PLACES[file])
    throw new Refused(`${file} contains the version ${from} ${found} times, not ${PLACES[file]}`)
  return text.replace(place, (_, before, after) => `${before}${to}${after}`)
}

/** Matches the version of the package itself: the first two of the lock file, none of its dependencies. */
const OWN =
  /^(\{\s*"name": "[^"]+",\s*"version": ")[^"]+("[\s\S]*?"packages": \{\s*"": \{\s*"name": "[^"]+",\s*"version": ")[^"]+(")/

/**
 * @typedef {object} Sources
 * @property {Readonly<Record<string, string>>} files texts of `FILES`, by path
 * @property {Readonly<Record<string, string>>} migrations texts, by `d1/0001_….sql`
 * @property {string} commit the released commit, without the change of the version
 *
 * @param {Sources} sources
 * @param {string} version
 * @param {string} day YYYY-MM-DD
 * @returns {Record<string, string>} new texts, by path
 * @throws {Refused}
 */
export function releaseOf({ files, migrations, commit }, version, day) {
  const text = (/** @type {string} */ path) => files[path] ?? ''
  const current = JSON.parse(text('package.json')).version
  if (!isNewer(version, current)) throw new Refused(`${version} is not newer than ${current}`)
  const changelog = text('CHANGELOG.md')
  const [, unreleased] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? []
  if (unreleased === undefined || unreleased.trim() === '')
    throw new Refused('CHANGELOG.md has no entries under "Unreleased"')
  const lock = text('package-lock.json')
  if (!OWN.test(lock)) throw new Refused('package-lock.json has no version in the expected place')
  const hashes = Object.entries(migrations)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sql]) => [name, createHash('sha256').update(sql).digest('hex')])
  return {
    ...Object.fromEntries(Object.keys(PLACES).map((path) => [path, stamped(text(path), current, version, path)])),
    'package-lock.json': lock.replace(OWN, (_, one, two, three) => `${one}${version}${two}${version}${three}`),
    'CHANGELOG.md': changelog.replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${day}\n`),
    'migrations/released.json': `${JSON.stringify({ version, commit, migrations: Object.fromEntries(hashes) }, null, 2)}\n`,
  }
}
