// `npm run check`: types, types of the scripts, and lint, in parallel; prints their output, and fails if one fails.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installMissing, nodePath } from './install.mjs'

/** Type checkers share much work: running one less at a time saves a third, and leaves a processor for the other checks. */
const CHECKS = [
  ['tsc', '-p', '.', '--checkers', '1'],
  ['tsc', '-p', 'tsconfig.scripts.json', '--checkers', '1'],
  ['biome', 'check', '--error-on-warnings', '.'],
]

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
const results = await Promise.all(CHECKS.map(passes))
process.exitCode = results.every(Boolean) ? 0 : 1
