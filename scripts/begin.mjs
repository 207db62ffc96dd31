// The first second of `npm start` and `npm run dev:postgres`: parses the arguments, checks the port and installs missing packages.
// Errors are reported in one line before anything takes time.
import { mkdirSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { isPackaged } from '../src/cli/place.mjs'
import { installMissing, root } from './install.mjs'
import { readServeArguments, UsageError } from './serve/arguments.mjs'
import { logTo } from './serve/log-file.mjs'
import { whyNoDebugger, whyNotFree } from './serve/port.mjs'

/** Like `mkdir -p`, step by step: Node.js never returns from a recursive one in a file system that refuses folders, such as /proc. */
function makeFolders(/** @type {string} */ folder) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(folder) !== folder) makeFolders(dirname(folder))
  mkdirSync(folder)
}

/** Creates the folder of the data early. @param {string} folder @throws {UsageError} */
function makeFolder(folder) {
  try {
    makeFolders(folder)
  } catch (error) {
    const { code, message, path } = /** @type {NodeJS.ErrnoException} */ (error)
    // A full or read-only disk may be fixed while the server runs; a path that cannot be a folder cannot.
    if (['ENOSPC', 'EDQUOT', 'EROFS'].includes(code ?? '')) return
    throw new UsageError(
      `The data folder cannot be created (${code ?? message}: ${path}). Use another one with --persist-to FOLDER.`,
    )
  }
}

/**
 * @param {readonly string[]} args
 * @param {'serving' | 'all'} packages to install if missing
 * @returns {Promise<import('./serve/arguments.mjs').ServeOptions & { shownState: string }>} ends the process on an error
 */
export async function begin(args = process.argv.slice(2), packages = /** @type {'serving' | 'all'} */ ('serving')) {
  try {
    const options = readServeArguments(args, { root: isPackaged ? process.cwd() : root, port: process.env.PORT })
    if (options.log !== undefined) logTo(options.log)
    const problem = (await whyNotFree(options.port, options.ip)) ?? (await whyNoDebugger(options))
    if (problem !== null) {
      console.error(problem)
      process.exit(1)
    }
    makeFolder(options.state)
    await installMissing(packages)
    const own = relative(root, options.state)
    return { ...options, shownState: isPackaged || own.startsWith('..') ? options.state : own }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(error.message)
    process.exit(2)
  }
}
