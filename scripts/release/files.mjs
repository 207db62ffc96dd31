// What a release changes in files of the checkout: the version wherever it stands, the changelog, and the record of the schema that the
// next release has to run on.
import { createHash } from 'node:crypto'

export class Refused extends Error {}

/** Semantic Versioning 2.0.0, without build metadata. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?$/

/** @param {string} text @returns {{ numbers: number[], pre: string[] }} */
function read(text) {
  const found = VERSION.exec(text)
  if (found === null) throw new Refused(`${text} is no version; write it like 1.0.0 or 1.0.0-rc.1`)
  return { numbers: found.slice(1, 4).map(Number), pre: found[4]?.split('.') ?? [] }
}

/** By the precedence of Semantic Versioning §11. @param {string} a @param {string} b */
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

/** @param {string} text @param {RegExp} place with the version between two groups @param {string} version @param {string} file */
function stamped(text, place, version, file) {
  if (!place.test(text)) throw new Refused(`${file} holds no version where it should`)
  return text.replace(place, (_, before, after) => `${before}${version}${after}`)
}

/**
 * @typedef {object} Sources texts of files, by their path
 * @property {string} package package.json
 * @property {string} lock package-lock.json
 * @property {string} about src/domain/about.ts
 * @property {string} changelog CHANGELOG.md
 * @property {Record<string, string>} migrations by `d1/0001_….sql`
 *
 * @param {Sources} sources
 * @param {string} version
 * @param {string} day YYYY-MM-DD
 * @returns {Record<string, string>} new texts, by path
 * @throws {Refused}
 */
export function releaseOf(sources, version, day) {
  const current = JSON.parse(sources.package).version
  if (!isNewer(version, current)) throw new Refused(`${version} is not newer than ${current}`)
  const [, unreleased] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(sources.changelog) ?? []
  if (unreleased === undefined || unreleased.trim() === '')
    throw new Refused('CHANGELOG.md tells nothing under "Unreleased"')
  // Of the package itself: the first two of the lock, none of those that it depends on.
  const own =
    /^(\{\s*"name": "commonplace",\s*"version": ")[^"]+("[\s\S]*?"packages": \{\s*"": \{\s*"name": "commonplace",\s*"version": ")[^"]+(")/
  if (!own.test(sources.lock)) throw new Refused('package-lock.json holds no version where it should')
  const hashes = Object.entries(sources.migrations)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')])
  return {
    'package.json': stamped(sources.package, /^(\s*"version": ")[^"]+(")/m, version, 'package.json'),
    'package-lock.json': sources.lock.replace(own, (_, one, two, three) => `${one}${version}${two}${version}${three}`),
    'src/domain/about.ts': stamped(sources.about, /(version: ')[^']+(')/, version, 'src/domain/about.ts'),
    'CHANGELOG.md': sources.changelog.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${day})\n`),
    'migrations/released.json': `${JSON.stringify({ version, migrations: Object.fromEntries(hashes) }, null, 2)}\n`,
  }
}
