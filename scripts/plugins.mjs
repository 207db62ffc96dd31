// `node scripts/plugins.mjs`: makes hook.mjs of both plugins from plugins/source; `--check` only says whether they are what it makes.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PLUGINS = fileURLToPath(new URL('../plugins', import.meta.url).href)
const FILES = ['commonplace', 'agent-plugin'].map((name) => join(PLUGINS, name, 'hook.mjs'))

/** @returns {Promise<string>} one readable file without dependencies */
async function built() {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const { outputFiles } = await build({
    entryPoints: [join(PLUGINS, 'source', 'main.mjs')],
    absWorkingDir: join(PLUGINS, 'source'),
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node18',
    format: 'esm',
    charset: 'utf8',
    logLevel: 'error',
  })
  return outputFiles[0].text
}

const text = await built()
const stale = FILES.filter((file) => {
  try {
    return readFileSync(file, 'utf8') !== text
  } catch {
    return true
  }
})
if (process.argv.includes('--check')) {
  for (const file of stale) console.error(`${file} is not what node scripts/plugins.mjs makes`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else for (const file of stale) writeFileSync(file, text)
