// The first second of `npm start` and `npm run dev:postgres`: read what was asked, see that the port is free, install what is
// missing. What is wrong is said in one line, before anything takes time.
import { relative } from 'node:path'
import { isPackaged } from '../src/cli/place.mjs'
import { installMissing, root } from './install.mjs'
import { readServeArguments, UsageError } from './serve/arguments.mjs'
import { whyNoDebugger, whyNotFree } from './serve/port.mjs'

/**
 * @param {readonly string[]} args
 * @param {'serving' | 'all'} packages what is installed where it is missing
 * @returns {Promise<import('./serve/arguments.mjs').ServeOptions & { shownState: string }>} ends the process when it cannot go on
 */
export async function begin(args = process.argv.slice(2), packages = /** @type {'serving' | 'all'} */ ('serving')) {
  try {
    const options = readServeArguments(args, { root: isPackaged ? process.cwd() : root, port: process.env.PORT })
    const problem = (await whyNotFree(options.port, options.ip)) ?? (await whyNoDebugger(options))
    if (problem !== null) {
      console.error(problem)
      process.exit(1)
    }
    await installMissing(packages)
    const own = relative(root, options.state)
    return { ...options, shownState: isPackaged || own.startsWith('..') ? options.state : own }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(error.message)
    process.exit(2)
  }
}
