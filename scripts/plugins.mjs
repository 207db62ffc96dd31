// `node scripts/plugins.mjs`: builds hook.mjs of both plugins from plugins/source; `--check` only checks that they are current.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PLUGINS = fileURLToPath(new URL('../plugins', import.meta.url).href)
const SECRETS = fileURLToPath(new URL('../src/domain/secrets', import.meta.url).href)
const FILES = ['commonplace', 'agent-plugin'].map((name) => join(PLUGINS, name, 'hook.mjs'))

const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')

/** Properties of the rules that get short names; those used by the language or by computed names are not listed. */
const INTERNAL = new RegExp(
  `^(?:${[
    'after areWords authorities azure azureSecret bearers before bodies body credentials digit end endFrom ends found form headers holds',
    'isIn isRandom kind lastLines least mark marked most mostBefore nextEnd ofClass password payloads prefixLength privateKey rest runsOf',
    'secretAt signatures strength text token webToken wordsTo isMixed trimmed',
  ]
    .join(' ')
    .replaceAll(' ', '|')})$`,
)

/** The rules for secrets, which the server uses too, as one minified expression. */
async function secretRules() {
  const { outputFiles } = await build({
    stdin: {
      contents: "import { redact } from './redact'\nsecretRules.redact = redact",
      resolveDir: SECRETS,
      loader: 'ts',
    },
    mangleProps: INTERNAL,
    bundle: true,
    write: false,
    minify: true,
    platform: 'node',
    target: 'node18',
    format: 'iife',
    charset: 'utf8',
    logLevel: 'error',
  })
  return outputFiles[0].text
}

/** Lets the program import the rules from the banner. */
const fromBanner = {
  name: 'rules from the banner',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/domain\/secrets\/redact$/ }, () => ({ path: 'rules', namespace: 'banner' }))
    onLoad({ filter: /^/, namespace: 'banner' }, () => ({ contents: 'export const redact = secretRules.redact' }))
  },
}

/** @returns {Promise<string>} one file without dependencies, readable except for the rules for secrets */
async function built() {
  const { outputFiles } = await build({
    banner: {
      js: `// Minified from src/domain/secrets.\nconst secretRules = {};\n${await secretRules()}`,
    },
    entryPoints: [join(PLUGINS, 'source', 'main.mjs')],
    absWorkingDir: join(PLUGINS, 'source'),
    bundle: true,
    write: false,
    plugins: [fromBanner],
    platform: 'node',
    target: 'node18',
    format: 'esm',
    minifySyntax: true,
    charset: 'utf8',
    logLevel: 'error',
  })
  // Source names in the output would cost bytes at every start of a client.
  return outputFiles[0].text.replace(/^\/\/ \S+\.mjs\n/gm, '')
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
  for (const file of stale) console.error(`${file} is out of date; run: node scripts/plugins.mjs`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else for (const file of stale) writeFileSync(file, text)
