// Runs the Worker's TypeScript in plain Node. It is bundled with wrangler's bundler into a file next to the packages, which is reused
// until a source changes; a package contains the finished bundle.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BUILT, isPackaged, ROOT } from './place.mjs'

/** @param {string} entry */
const nameOf = (entry) => `${basename(dirname(entry))}.mjs`

/** Path of the bundle inside a package. @param {string} entry */
export const builtLibrary = (entry) => join(BUILT, 'cli', nameOf(entry))

/** Separates the bundle from the list of its sources at its end. */
const MADE_OF = '\n// Made of: '

/** A bundle depends on its sources, on this file, and on the version of the bundler. */
const HOW = ['src/cli/bundle.mjs', 'package-lock.json', 'tsconfig.json']

/** Hashes the sources of a bundle. @param {string[]} sources paths from the root @returns {string} */
function fingerprint(sources) {
  const hash = createHash('sha256')
  for (const source of [...HOW, ...sources]) hash.update(`\n${source}\n`).update(readFileSync(join(ROOT, source)))
  return hash.digest('hex')
}

/** Returns whether a bundle exists and its sources have not changed. @param {string} file of a bundle @returns {boolean} */
function stands(file) {
  try {
    const text = readFileSync(file, 'utf8')
    const { sources, print } = JSON.parse(text.slice(text.lastIndexOf(MADE_OF) + MADE_OF.length))
    return fingerprint(sources) === print
  } catch {
    return false
  }
}

/** Bundles a module. @param {string} entry @param {string} file path of the bundle */
async function make(entry, file) {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    loader: { '.sql': 'text' },
    logLevel: 'error',
  })
  const sources = Object.keys(metafile.inputs)
  const madeOf = JSON.stringify({ sources, print: fingerprint(sources) })
  mkdirSync(dirname(file), { recursive: true })
  // Several commands may run at once; the rename makes each read a complete file.
  const own = `${file}.${process.pid}`
  writeFileSync(own, `${outputFiles[0].text}${MADE_OF}${madeOf}\n`)
  renameSync(own, file)
}

/**
 * Loads a TypeScript module of the command line.
 *
 * @param {string} entry path of the module
 * @returns {Promise<any>}
 */
export async function bundled(entry) {
  if (isPackaged) return await import(pathToFileURL(builtLibrary(entry)).href)
  const file = join(ROOT, '.tmp', 'cli', nameOf(entry))
  if (!stands(file)) await make(entry, file)
  return await import(pathToFileURL(file).href)
}
