// Explains errors of wrangler and Cloudflare to the user: one sentence with a remedy.

/** An error that the user must fix first; only its message is printed. */
export class Blocked extends Error {}

/** Permissions that a token for `npm run deploy` needs, by their names in the dashboard. */
const RIGHTS =
  'Workers Scripts: Edit, D1: Edit, Workers KV Storage: Edit, Workers R2 Storage: Edit, Vectorize: Edit, Hyperdrive: Edit, ' +
  'Workers AI: Read, Account Settings: Read'

/**
 * The first match applies. Codes are those of Cloudflare's API, which wrangler prints as `[code: 10042]`.
 *
 * @type {readonly (readonly [words: RegExp, meaning: (what: string) => string])[]}
 */
const MEANINGS = [
  [
    /not logged in|CLOUDFLARE_API_TOKEN environment variable|You must be logged in|non-interactive environment/i,
    () => 'You are not logged in to Cloudflare. Run: npx wrangler login (or set CLOUDFLARE_API_TOKEN)',
  ],
  [
    /More than one account/i,
    () => 'Your login sees several accounts. Choose one: npm run deploy -- --account <account id>',
  ],
  [
    /\[code: (10000|10001|9109|9106)\]|Authentication error|Invalid access token|not authorized/i,
    (what) => `The token or login may not ${what}. Give it these permissions: ${RIGHTS}; or run: npx wrangler login`,
  ],
  [
    /\[code: 10063\]|workers\.dev subdomain/i,
    () =>
      'This account has no workers.dev subdomain yet. Open Workers & Pages in the dashboard once, choose one, and deploy again',
  ],
  [
    /\[code: (7406|10026|10017|10037|100328|2006)\]|maximum (number|amount)|limit (of|reached)|exceed(s|ed)? .*(limit|quota)|quota/i,
    (what) =>
      `This account has reached a limit of its plan, so it could not ${what}. Remove what is not used, or change the plan`,
  ],
  [
    /\[code: 10027\]|Worker (exceeded|size)|script.*too large/i,
    () => 'The Worker is larger than the plan of this account allows (3 MB on Free, 10 MB on Paid)',
  ],
  [
    /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|fetch failed|network/i,
    () => 'Cloudflare could not be reached. Check the connection and deploy again; completed steps are skipped',
  ],
]

/** Errors of an account without R2, where everything works but images. */
export const isWithoutR2 = (/** @type {string} */ said) => /\[code: 10042\]|enable R2/i.test(said)
export const isTaken = (/** @type {string} */ said) =>
  /\[code: (10004|7502|10014|3002|2017)\]|already exists|already own/i.test(said)

/** @param {string} said @returns {string} its last informative lines */
const excerpt = (said) =>
  said
    .replace(/\u001b\[[0-9;]*m/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !/Logs were written|^If you think this is a bug|wrangler-\d{4}|github\.com/.test(line),
    )
    .slice(-6)
    .join('\n  ')

/**
 * @param {string} what the attempted action, after "could not"
 * @param {string} said output of wrangler
 */
export function blocked(what, said) {
  const meaning = MEANINGS.find(([words]) => words.test(said))?.[1](what)
  return new Blocked(meaning === undefined ? `Could not ${what}. wrangler said:\n  ${excerpt(said)}` : `${meaning}.`)
}
