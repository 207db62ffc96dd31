// Step 1: finds the login and the account.
import { Blocked, blocked } from './failures.mjs'
import { parsed } from './wrangler.mjs'

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @returns {Promise<string>} the id of the account
 */
export async function chooseAccount({ wrangler, options, env, say }) {
  const { code, out, said } = await wrangler(['whoami', '--json'])
  const who = parsed(out)
  if (who?.loggedIn !== true) throw blocked('check the login', code === 0 || who !== null ? 'not logged in' : said)
  /** @type {{ id: string, name: string }[]} */
  const accounts = who.accounts ?? []
  const wanted = options.account ?? env.CLOUDFLARE_ACCOUNT_ID
  const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  const account = wanted === undefined ? accounts[0] : accounts.find(({ id, name }) => id === wanted || name === wanted)
  if (account === undefined && wanted !== undefined && accounts.length > 0)
    throw new Blocked(`This login does not see the account ${wanted}. It sees:\n${list}`)
  // A token may act on an account without the right to list it.
  if (account === undefined && wanted !== undefined) return wanted
  if (account === undefined)
    throw new Blocked('This login sees no account. Choose one: npm run deploy -- --account <account id>')
  if (wanted === undefined && accounts.length > 1)
    throw new Blocked(`Your login sees several accounts. Choose one: npm run deploy -- --account <account id>\n${list}`)
  say('account', `${account.name} (${account.id})`)
  return account.id
}
