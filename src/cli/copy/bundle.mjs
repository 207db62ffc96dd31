// How does plain Node run the Worker's TypeScript? Bundled by the bundler that wrangler brings, into a file beside the packages; in a
// package it was bundled when that was packed.
import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { BUILT, isPackaged, ROOT } from '../place.mjs'

/** Where a package holds what a checkout bundles. @param {string} entry */
export const builtLibrary = (entry) => join(BUILT, 'cli', `${basename(dirname(entry))}.mjs`)

/**
 * Loads a TypeScript module of the command line.
 *
 * @param {string} entry its file
 * @returns {Promise<any>}
 */
export async function bundled(entry) {
  if (isPackaged) return await import(pathToFileURL(builtLibrary(entry)).href)
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const folder = join(ROOT, '.tmp', 'cli')
  mkdirSync(folder, { recursive: true })
  // Of its own for each process, because several may run at once.
  const file = join(folder, `${basename(dirname(entry))}-${process.pid}.mjs`)
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    loader: { '.sql': 'text' },
    logLevel: 'error',
  })
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    rmSync(file, { force: true })
  }
}

/** @returns {Promise<typeof import('./library')>} */
export const loadLibrary = () => bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))
