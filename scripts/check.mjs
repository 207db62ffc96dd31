// `npm run check`: types, types of the scripts, form and prose, in parallel; what any of them says is printed, and one failure fails all.
// `npm run check:fast` also runs the tests that need no database server: what a person runs before each commit.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installMissing, nodePath } from './install.mjs'

/** Type checkers share much work: running one less at a time saves a third, and leaves a processor for the other checks. */
const CHECKS = [
  ['tsc', '-p', '.', '--checkers', '1'],
  ['tsc', '-p', 'tsconfig.scripts.json', '--checkers', '1'],
  ['biome', 'check', '--error-on-warnings', '.'],
  ['node', 'scripts/prose.mjs'],
]

/** Unit tests and properties, and one suite over MCP on D1 that starts the product. */
const FAST_TESTS = ['node', 'scripts/test.mjs', '--project', 'unit', '--project', 'properties', '--project', 'node']
const FAST_FILES = ['test/unit', 'test/properties', 'test/node/core.test.ts']

/** @param {string[]} check @returns {Promise<boolean>} whether it passed */
const passes = (check) =>
  new Promise((resolve, reject) => {
    const child = spawn(nodePath(), [fileURLToPath(new URL('run.mjs', import.meta.url).href), ...check], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk
      })
    child.once('error', reject)
    child.once('close', (code) => {
      process.stdout.write(said)
      resolve(code === 0)
    })
  })

await installMissing()
const checks = process.argv.includes('--fast') ? [...CHECKS, [...FAST_TESTS, ...FAST_FILES]] : CHECKS
const results = await Promise.all(checks.map(passes))
process.exitCode = results.every(Boolean) ? 0 : 1
