// Finds the password of the database if neither its URL nor the environment has one: none if the server trusts the connection; else
// the user types it without echo.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { connect, Failure } from './connect.mjs'
import { fillPassword, parseUrl, withPassword } from './url.mjs'

/** Reads a line without echo. @param {string} question @returns {Promise<string>} */
async function askUnseen(question) {
  process.stderr.write(question)
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** Returns whether a refused connection needs a password. @param {unknown} error */
function wantsPassword(error) {
  const cause = /** @type {{ code?: string, message?: string } | undefined} */ (/** @type {Error} */ (error).cause)
  return cause?.code === '28P01' || /password must be a/.test(cause?.message ?? '')
}

/**
 * @param {string} text a PostgreSQL URL
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<string>} the same with a password, if the server asks for one
 * @throws {Failure} if it does and no terminal is attached
 * @throws {import('./url.mjs').UsageError}
 */
export async function completeUrl(text, environment) {
  const url = fillPassword(text, environment)
  const target = parseUrl(url)
  if (target.options.password) return url
  try {
    await (await connect(target, 'commonplace')).end()
    return url
  } catch (error) {
    if (!wantsPassword(error)) throw error
    if (!process.stdin.isTTY)
      throw new Failure(
        `${target.shown}: the server requires a password; set POSTGRESQL_PASSWORD, or add it to the URL.`,
      )
    return withPassword(url, await askUnseen(`Password of ${target.options.user} at ${target.shown}: `))
  }
}
