// bench/RESULTS.md: one section a bench, each replaced by the run that made it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { root } from '../../scripts/install.mjs'

const FILE = join(root, 'bench', 'RESULTS.md')

const HEADER = `# Results

Written by the benches (see README.md); each replaces its own section and leaves the rest alone.
`

/**
 * Puts the text between the markers of a section, which is appended when the file has none yet.
 *
 * @param {string} section
 * @param {string} text
 * @param {string} [file]
 */
export function writeSection(section, text, file = FILE) {
  const [begin, end] = [`<!-- ${section}: begin -->`, `<!-- ${section}: end -->`]
  const old = existsSync(file) ? readFileSync(file, 'utf8') : HEADER
  const [from, to] = [old.indexOf(begin), old.indexOf(end)]
  const block = `${begin}\n${text.trim()}\n${end}`
  const next =
    from >= 0 && to > from
      ? `${old.slice(0, from)}${block}${old.slice(to + end.length)}`
      : `${old.trimEnd()}\n\n${block}\n`
  writeFileSync(file, next)
}

/** What stands between the markers of a section; empty without one. @param {string} section @param {string} [file] */
export function readSection(section, file = FILE) {
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
 * Where and when something was measured, as one line. Call it when the measuring begins.
 *
 * @param {string} [ref] the commit, when it is not the files as they are
 */
export function circumstances(ref) {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}`
  const versions = ['wrangler', 'miniflare', 'workerd'].map((name) => `${name} ${version(name)}`).join(', ')
  const busy = `load average ${loadavg()[0]?.toFixed(1)} at the start`
  return `${new Date().toISOString().slice(0, 10)}; commit ${commit(ref)}; ${machine}, ${busy}; Node ${process.version}, ${versions}`
}
