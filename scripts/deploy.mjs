// `npm run deploy`: deploys a server to a Cloudflare account, with a proof at the end. See docs/deploy.md.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { deploy, readOptions } from './deploy/command.mjs'
import { Blocked } from './deploy/failures.mjs'
import { runWrangler } from './deploy/wrangler.mjs'
import { environment, nodePath, root } from './install.mjs'

/** @param {string} question */
async function ask(question) {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await reader.question(question)
  } finally {
    reader.close()
  }
}

/** @param {string} url @returns {Promise<void>} */
const migratePostgres = (url) =>
  new Promise((resolve, reject) => {
    const child = spawn(nodePath(), [join(root, 'src', 'cli', 'migrate-postgres.mjs'), url], {
      cwd: root,
      env: environment(),
      stdio: ['inherit', 'ignore', 'inherit'],
    })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Blocked('The PostgreSQL database could not be migrated; see above.')),
    )
  })

try {
  process.exitCode = await deploy(
    {
      wrangler: runWrangler,
      fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(30_000) }),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      ask,
      migratePostgres,
      print: (line) => console.log(line),
      now: () => new Date(),
      environment: process.env,
      folder: join(root, '.wrangler', 'commonplace'),
    },
    readOptions(process.argv.slice(2)),
  )
} catch (error) {
  if (!(error instanceof Blocked)) throw error
  console.error(error.message)
  process.exitCode = 1
}
