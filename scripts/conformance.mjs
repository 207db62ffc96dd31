// `npm run conformance`: runs the protocol's conformance suite against this server, without network. It tests two Workers:
// a fixture with the tools that the suite needs behind our own HTTP code, and the product itself.
// test/conformance/expected-failures.json lists expected failures with reasons; that list may only shrink.
import './local-vectors.mjs'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'
import { freePort } from './ports.mjs'

await installMissing()

const WRANGLER = join(root, 'node_modules/wrangler/bin/wrangler.js')
const SUITE = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const FIXTURE = join(root, 'test/conformance')
const EXPECTED_FAILURES = 'test/conformance/expected-failures.json'

const REVISIONS = ['2025-11-25', '2026-07-28']

/** Scenarios that the product passes without the suite's own tools. */
const PRODUCT_SCENARIOS = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ],
}

const scratch = mkdtempSync(join(tmpdir(), 'commonplace-conformance-'))
const groups = new Set()

function signal(group, name) {
  try {
    process.kill(-group, name)
  } catch {
    // The process group is empty.
  }
}

// Stops every child process when this script ends.
process.on('exit', () => {
  for (const group of groups) signal(group, 'SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
  rmSync(join(FIXTURE, '.wrangler'), { recursive: true, force: true })
})
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => process.exit(1))

/** Runs a Node program in its own process group. */
function start(args, stdio) {
  const child = spawn(nodePath(), args, { cwd: root, env: environment(), stdio, detached: true })
  const ended = new Promise((resolve) => child.on('close', resolve))
  groups.add(child.pid)
  const stop = async () => {
    signal(child.pid, 'SIGTERM')
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())])
    signal(child.pid, 'SIGKILL')
    groups.delete(child.pid)
  }
  return { child, ended, stop }
}

/** Starts a Worker. @param {string} name @param {string[]} args of a Node program that accepts a port and a folder as wrangler does */
async function serve(name, args) {
  const port = await freePort() // none of them accepts port 0
  const log = join(scratch, `${name}.log`)
  const output = openSync(log, 'w')
  const own = ['--port', String(port), '--persist-to', join(scratch, name)]
  const { child, stop } = start([...args, ...own], ['ignore', output, output])
  closeSync(output)
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    // wrangler holds requests while a build is broken.
    const healthy = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(5000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (healthy) return { url: `http://127.0.0.1:${port}/mcp`, stop }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await stop()
  throw new Error(`The ${name} Worker did not start:\n${readFileSync(log, 'utf8')}`)
}

/** Runs the suite. @returns its output; the verdict is in the files it writes, since its exit code ignores some scenarios */
async function suite(...args) {
  const { child, ended, stop } = start([SUITE, ...args], ['ignore', 'pipe', 'pipe'])
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed += chunk
    })
  await ended
  await stop()
  return printed
}

/** Every server scenario of each requirement set, including those that the suite runs without counting them. */
async function requiredScenarios() {
  const listed = await suite('list', '--requirements', REVISIONS.join())
  const sets = listed.split(/^(?=Required for )/m).slice(-REVISIONS.length)
  return REVISIONS.map((revision, i) => scenariosOf(revision, sets[i] ?? ''))
}

/** @param {string} revision @param {string} listed output of the suite's list command */
function scenariosOf(revision, listed) {
  if (!listed.startsWith(`Required for ${revision} `))
    throw new Error(`The suite does not know ${revision}:\n${listed}`)
  const counted = /^Server scenarios.*\n((?: {2}- .*\n)*)/m.exec(listed)?.[1] ?? ''
  const names = [
    ...[...counted.matchAll(/- (\S+)/g)].map(([, name]) => name),
    ...[...listed.matchAll(/^ {4}- (\S+) \[server\]$/gm)].map(([, name]) => name),
  ]
  if (counted === '') throw new Error(`The suite names no scenarios for ${revision}:\n${listed}`)
  return names
}

/** Returns the checks of one scenario, or null if it wrote none. */
function checksOf(folder, scenario) {
  if (!existsSync(folder)) return null
  const run = readdirSync(folder).find((name) => new RegExp(`^server-${scenario}-\\d{4}-`).test(name))
  const file = join(folder, run ?? '', 'checks.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

/** @returns the reasons why the scenario does not pass, one per line; empty if it does */
function problems(checks, printed, isProduct) {
  if (checks === null)
    return ['it wrote no result; the last output of the suite:', ...printed.trim().split('\n').slice(-15)]
  const failures = checks
    .filter(({ status }) => status === 'FAILURE')
    .filter(({ details }) => !(isProduct && details?.untestable === true)) // needs the fixture, and runs there
    .map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'no message'}`)
  // A scenario that skips every check must not count as passed.
  return failures.length > 0 || checks.some(({ status }) => status === 'SUCCESS') ? failures : ['no check succeeded']
}

/** Compares a folder of results with the expectations, and prints differences. */
function judge(set, { folder, printed }, scenarios, reasons, isProduct) {
  const row = { set, passed: 0, expected: 0, unexpected: 0 }
  const fail = (words) => {
    row.unexpected++
    console.log(`✗ ${set}: ${words}`)
  }
  for (const scenario of scenarios) {
    const checks = checksOf(folder, scenario)
    const found = problems(checks, printed, isProduct)
    const reason = reasons[scenario]
    // An aborted scenario is never an expected failure.
    if (found.length > 0 && reason !== undefined && checks !== null) {
      row.expected++
      console.log(`- ${set}: ${scenario} cannot pass. ${reason}`)
      continue
    }
    if (found.length > 0) fail(`${scenario} does not pass\n${found.map((line) => `    ${line}`).join('\n')}`)
    else if (reason !== undefined) fail(`${scenario} passes now: delete it from ${EXPECTED_FAILURES}`)
    else row.passed++
    for (const { status, id, errorMessage } of checks ?? [])
      if (status === 'WARNING') console.log(`! ${set}: ${scenario} advises (${id}): ${errorMessage ?? 'no message'}`)
  }
  for (const scenario of Object.keys(reasons))
    if (!scenarios.includes(scenario)) fail(`${scenario} is not a scenario: delete it from ${EXPECTED_FAILURES}`)
  return row
}

async function playFixture(expected) {
  const own = ['--config', join(FIXTURE, 'wrangler.toml'), '--inspector-port', String(await freePort())]
  const quiet = ['--ip', '127.0.0.1', '--show-interactive-dev-session=false']
  const { url, stop } = await serve('fixture', [WRANGLER, 'dev', ...own, ...quiet])
  const required = await requiredScenarios()
  const rows = []
  for (const [i, revision] of REVISIONS.entries()) {
    const folder = join(scratch, `fixture-${revision}`)
    const scenarios = required[i]
    const printed = await suite('server', '--url', url, '--requirements', revision, '--output-dir', folder)
    rows.push(judge(`fixture ${revision}`, { folder, printed }, scenarios, expected[revision] ?? {}, false))
  }
  await stop()
  return rows
}

async function playProduct() {
  const { url, stop } = await serve('product', [join(root, 'scripts', 'start.mjs'), '--var', 'AUTH_MODE:open'])
  const rows = []
  for (const revision of REVISIONS) {
    const folder = join(scratch, `product-${revision}`)
    const scenarios = PRODUCT_SCENARIOS[revision]
    // One run for all, because starting the suite costs more than the scenarios that only the fixture can pass.
    const printed = await suite('server', '--url', url, '--requirements', revision, '--output-dir', folder)
    rows.push(judge(`product ${revision}`, { folder, printed }, scenarios, {}, true))
  }
  await stop()
  return rows
}

const expected = JSON.parse(readFileSync(join(root, EXPECTED_FAILURES), 'utf8'))
const rows = [...(await playFixture(expected)), ...(await playProduct())]
const sum = (column) => rows.reduce((total, row) => total + row[column], 0)

console.log(
  `\n${'requirement set'.padEnd(20)}${'passed'.padStart(8)}${'expected'.padStart(10)}${'unexpected'.padStart(12)}`,
)
for (const { set, passed, expected: known, unexpected } of rows)
  console.log(
    set.padEnd(20) + String(passed).padStart(8) + String(known).padStart(10) + String(unexpected).padStart(12),
  )
console.log(`\n${sum('passed')} passed, ${sum('unexpected')} failed`)
process.exit(sum('unexpected') === 0 ? 0 : 1)
