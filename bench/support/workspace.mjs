// A separate copy of the sources for each run, so that edits of the tree meanwhile do not change the result.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, nodePath, root } from '../../scripts/install.mjs'

/** Files that a worker is built from. */
const SOURCES = ['src', 'scripts', 'migrations', 'wrangler.toml', 'package.json', 'tsconfig.json']

export const wranglerCli = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')

/**
 * @typedef {object} Workspace
 * @property {string} sources a copy of the sources, with the packages of the tree
 * @property {string} bundle the worker as wrangler would upload it
 * @property {string[]} modules files of the bundle in addition to the main module
 * @property {(name: string) => string} folder a new empty folder that is deleted with the workspace
 * @property {() => void} remove
 */

function copyTree(sources) {
  for (const name of SOURCES)
    if (existsSync(join(root, name))) cpSync(join(root, name), join(sources, name), { recursive: true })
}

function extractCommit(ref, sources) {
  mkdirSync(sources)
  const archive = spawnSync('git', ['archive', '--format=tar', ref, ...SOURCES], { cwd: root, maxBuffer: 2 ** 28 })
  if (archive.status !== 0) throw new Error(`git archive ${ref}: ${archive.stderr}`)
  const { status, stderr } = spawnSync('tar', ['-x', '-C', sources], { input: archive.stdout })
  if (status !== 0) throw new Error(`tar: ${stderr}`)
}

/**
 * Copies the sources and bundles them once.
 *
 * @param {string} [ref] a commit to measure instead of the working tree
 * @param {string} [entry] another `index.ts` to start from, copied next to the sources
 * @returns {Workspace}
 */
export function createWorkspace(ref, entry) {
  const base = mkdtempSync(join(tmpdir(), 'commonplace-bench-'))
  const remove = () => rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)

  const sources = join(base, 'sources')
  if (ref === undefined) copyTree(sources)
  else extractCommit(ref, sources)
  if (entry !== undefined) cpSync(join(root, entry), join(sources, entry), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'), 'dir')

  const bundle = join(base, 'bundle')
  const { status, stdout, stderr } = spawnSync(
    nodePath(),
    [
      ...[wranglerCli, 'deploy', ...(entry === undefined ? [] : [entry, '--bundle'])],
      ...['--dry-run', '--outdir', bundle, '--cwd', sources],
    ],
    { cwd: sources, env: environment(), encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The worker could not be bundled:\n${stdout}\n${stderr}`)
  const modules = readdirSync(bundle).filter((name) => !/^README\.md$|\.map$|^index\.js$/.test(name))

  return {
    sources,
    bundle,
    modules,
    folder: (name) => mkdtempSync(join(base, `${name}-`)),
    remove,
  }
}
