// bench/records/<bench>.md: the sections of one bench, each replaced by the run that made it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../../scripts/install.mjs'

/** The record of a section that is not called as its bench is. */
const RECORDS = {
  'load compared': 'load',
  backends: 'load',
  size: 'rows',
  'rows-postgres': 'rows',
  'capture-clients': 'capture',
  'code-postgres': 'code',
  'crashes-d1': 'crashes',
  'crashes-postgres': 'crashes',
  'health-postgres': 'health',
  'Long texts (D1)': 'texts',
  'Long texts (PostgreSQL, pooled)': 'texts',
  'packs-studio': 'packs',
  'packs-bakery': 'packs',
  'packs-harbour': 'packs',
  'packs-clinic': 'packs',
  'vectors-objects': 'vectors',
  'suites-locomo': 'suites',
  'suites-realtalk': 'suites',
  'suites-beam': 'suites',
  'suites-longmemeval': 'suites',
  'suites-gatemem': 'suites',
  'suites-promises': 'suites',
  'hostile-text-part': 'hostile-text',
  'hostile-size-requests': 'hostile-size',
  'large-100000-postgres': 'large-100000',
}

/** Letters, digits and dashes, so that a section named by a caller is a file name. @param {string} section */
const slug = (section) => section.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/** Returns the position of a section. @param {string} section */
export const recordFile = (section) => join(root, 'bench', 'records', `${RECORDS[section] ?? slug(section)}.md`)

/** @param {string} section */
const header = (section) => `# Record: ${RECORDS[section] ?? slug(section)}

Written by its bench ([how](../README.md)); each section is replaced by the run that made it. [All at a glance](../RESULTS.md).
`

/**
 * Puts the text between the markers of a section, which is appended when the file has none yet.
 *
 * @param {string} section
 * @param {string} text
 * @param {string} [file]
 */
export function writeSection(section, text, file = recordFile(section)) {
  const [begin, end] = [`<!-- ${section}: begin -->`, `<!-- ${section}: end -->`]
  const old = existsSync(file) ? readFileSync(file, 'utf8') : header(section)
  const [from, to] = [old.indexOf(begin), old.indexOf(end)]
  const block = `${begin}\n${text.trim()}\n${end}`
  const next =
    from >= 0 && to > from
      ? `${old.slice(0, from)}${block}${old.slice(to + end.length)}`
      : `${old.trimEnd()}\n\n${block}\n`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, next)
}

/** Returns the text between the markers of a section; empty without one. @param {string} section @param {string} [file] */
export function readSection(section, file = recordFile(section)) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const [from, to] = [text.indexOf(`<!-- ${section}: begin -->`), text.indexOf(`<!-- ${section}: end -->`)]
  return from >= 0 && to > from ? text.slice(from, to) : ''
}

const version = (name) =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version ?? 'unknown'

/** The commit that is measured, with a word when the files differ from it. */
function commit(ref) {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const changed = ref === undefined && git('status', '--porcelain', '--', 'src', 'migrations', 'wrangler.toml') !== ''
  return `${git('rev-parse', '--short', ref ?? 'HEAD') || 'unknown'}${changed ? ' with uncommitted changes' : ''}`
}

/**
 * Returns one line with the machine, time and commit. Call it when the measuring starts.
 *
 * @param {string} [ref] the commit, if not the working tree
 */
export function circumstances(ref) {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}`
  const versions = ['wrangler', 'miniflare', 'workerd'].map((name) => `${name} ${version(name)}`).join(', ')
  const busy = `load average ${loadavg()[0]?.toFixed(1)} at the start`
  return `${new Date().toISOString().slice(0, 10)}; commit ${commit(ref)}; ${machine}, ${busy}; Node ${process.version}, ${versions}`
}
