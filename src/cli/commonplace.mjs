#!/usr/bin/env node
// The command line: `npm run commonplace -- <command>`. Plain Node, no packages.
// Environment: COMMONPLACE_URL (default http://localhost:8787), COMMONPLACE_KEY. Exit 0, 1 on failure, 2 on wrong usage.
import { parseArgs } from 'node:util'

const USAGE = `usage: commonplace reembed [--url URL]

  reembed   makes the vectors that are missing for the configured model, for instance after EMBEDDING_MODEL has
            changed; may be stopped and started again at any time`

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

function showProgress(done, total) {
  const share = total === 0 ? 1 : done / total
  const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '·')
  const line = `${bar} ${done}/${total} entries`
  process.stdout.write(process.stdout.isTTY ? `\r${line}` : `${line}\n`)
}

async function reembed(url) {
  for (;;) {
    const { made, entries, embedded } = await post(url, '/api/v1/reembed')
    showProgress(embedded, entries)
    if (made === 0) break
  }
  console.log('\nEvery entry has vectors of the configured model.')
}

let parsed
try {
  parsed = parseArgs({ allowPositionals: true, options: { url: { type: 'string' } } })
} catch (error) {
  usage(error.message)
}
const [command, ...rest] = parsed.positionals
const url = parsed.values.url ?? process.env.COMMONPLACE_URL ?? 'http://localhost:8787'
if (!URL.canParse(url)) usage(`${url} is not a URL`)
if (command !== 'reembed' || rest.length > 0)
  usage(command ? `unknown command: ${[command, ...rest].join(' ')}` : 'no command')
await reembed(url)
