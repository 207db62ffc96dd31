#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`. Plain Node; packages are loaded by the commands that need them.
// Environment: COMMONPLACE_URL (default http://localhost:8787), COMMONPLACE_KEY. Exit 0, 1 on failure, 2 on wrong usage.
import { parseArgs } from 'node:util'
import { showProgress } from './progress.mjs'

const USAGE = `usage: commonplace reembed [--url URL]
       commonplace copy --org ORG --from BACKEND --to BACKEND [--state DIR]

  reembed   makes the vectors that are missing for the configured model, for instance after EMBEDDING_MODEL has
            changed; may be stopped and started again at any time
  copy      moves an org between D1 and PostgreSQL: entries with their ids, tags, links, vectors, search index. May be
            stopped and started again; compares both sides at the end. BACKEND is d1:local (of npm start, which must not
            run; --state for another folder than .wrangler/state), d1:<database id> (with CLOUDFLARE_ACCOUNT_ID and
            CLOUDFLARE_API_TOKEN) or postgresql://… (POSTGRESQL_SCHEMA). In open mode the org is "local"`

function usage(problem) {
  console.error(`${problem}\n\n${USAGE}`)
  process.exit(2)
}

/** One call of the administration; ends the program with the server's own words when it fails. */
async function post(url, path) {
  const key = process.env.COMMONPLACE_KEY
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: key ? { authorization: `Bearer ${key}` } : {},
  }).catch((error) => fail(`${url} does not answer: ${error.cause?.message ?? error.message}`))
  const body = await response.json().catch(() => ({}))
  if (!response.ok) fail(body.error?.message ?? `${url} answered ${response.status}`)
  return body
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

async function reembed(values) {
  const url = values.url ?? process.env.COMMONPLACE_URL ?? 'http://localhost:8787'
  if (!URL.canParse(url)) usage(`${url} is not a URL`)
  for (;;) {
    const { made, entries, embedded } = await post(url, '/api/v1/reembed')
    showProgress('entries', embedded, entries)
    if (made === 0) break
  }
  console.log('Every entry has vectors of the configured model.')
}

async function copy(values) {
  const command = await import('./copy/command.mjs')
  const { UsageError } = await import('./postgres/url.mjs')
  const { Failure } = await import('./postgres/connect.mjs')
  try {
    process.exitCode = await command.copy(values)
  } catch (error) {
    if (error instanceof UsageError) usage(error.message)
    if (error instanceof Failure) fail(error.message)
    throw error
  }
}

/** Each command with the options it takes. */
const COMMANDS = {
  reembed: { run: reembed, options: ['url'] },
  copy: { run: copy, options: ['org', 'from', 'to', 'state'] },
}

let parsed
try {
  const names = new Set(Object.values(COMMANDS).flatMap(({ options }) => options))
  const options = Object.fromEntries([...names].map((name) => [name, { type: 'string' }]))
  parsed = parseArgs({ allowPositionals: true, options })
} catch (error) {
  usage(error.message)
}
const [name, ...rest] = parsed.positionals
const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined
if (command === undefined || rest.length > 0)
  usage(name ? `unknown command: ${[name, ...rest].join(' ')}` : 'no command')
const foreign = Object.keys(parsed.values).find((option) => !command.options.includes(option))
if (foreign !== undefined) usage(`${name} takes no --${foreign}`)
await command.run(parsed.values)
