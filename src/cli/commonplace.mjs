#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`. Plain Node, no packages. Exit 0, 1 on failure, 2 on wrong usage.
import { parseArgs } from 'node:util'
import { ADMINISTRATION, NEEDS_WORD } from './administration.mjs'
import { reembed } from './reembed.mjs'

const USAGE = `usage: commonplace <command> [--url URL] [--json]

  orgs list                      organizations that the credential sees
  orgs create ID [--name NAME]   with ADMIN_TOKEN only
  projects list [--org ORG]
  projects create ID [--name NAME] [--org ORG]
  keys list [--org ORG]
  keys create NAME [--role reader|writer|admin] [--project ID]… [--agent NAME] [--owner NAME] [--expires DATE] [--org ORG]
  keys revoke ID [--org ORG]
  audit list [--after SEQ] [--limit N] [--org ORG]
  reembed                        makes the vectors that are missing for the configured model, for instance after
                                 EMBEDDING_MODEL has changed; may be stopped and started again at any time

Environment: COMMONPLACE_URL (default http://localhost:8787), and ADMIN_TOKEN or COMMONPLACE_KEY.
ORG may be left out where the credential sees only one.`

const OPTIONS = {
  url: { type: 'string' },
  json: { type: 'boolean' },
  org: { type: 'string' },
  name: { type: 'string' },
  role: { type: 'string' },
  project: { type: 'string', multiple: true },
  agent: { type: 'string' },
  owner: { type: 'string' },
  expires: { type: 'string' },
  after: { type: 'string' },
  limit: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
}

function usage(problem) {
  console.error(`${problem}\n\n${USAGE}`)
  process.exit(2)
}

let parsed
try {
  parsed = parseArgs({ allowPositionals: true, options: OPTIONS })
} catch (error) {
  usage(error.message)
}
const { values, positionals: words } = parsed
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const url = values.url ?? process.env.COMMONPLACE_URL ?? 'http://localhost:8787'
if (!URL.canParse(url)) usage(`${url} is not a URL`)
const options = { ...values, url }
if (words.length === 0) usage('no command')
if (words[0] === 'reembed' && words.length === 1) await reembed(url)
else {
  const name = words.slice(0, 2).join(' ')
  const run = ADMINISTRATION[name]
  const expected = NEEDS_WORD.has(name) ? 3 : 2
  if (run === undefined) usage(`unknown command: ${words.join(' ')}`)
  if (words.length < expected) usage(`${name} needs one more word`)
  if (words.length > expected) usage(`too many words: ${words.slice(expected).join(' ')}`)
  await run(options, words[2])
}
