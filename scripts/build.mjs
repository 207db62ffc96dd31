// Builds the Worker as it is uploaded: `index.js` with the code that every request needs, and modules that load when they are first used.
// Wrangler bundles into one file, which V8 parses in full at every start; so esbuild, its bundler, is called here with code splitting.
// Wrangler runs this program before it uploads or serves the Worker (`[build]` of wrangler.toml).
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules, createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url).href).replace(/[\\/]$/, '')

/** The folder of `main` in wrangler.toml. */
export const UPLOAD = join(ROOT, '.wrangler', 'upload')

const NODE = new RegExp(`^(node:.+|${builtinModules.filter((name) => !name.startsWith('_')).join('|')})$`)
const REQUIRED = 'required-of-node'

/**
 * Imports the modules of Node that CommonJS packages require, because modules of workerd cannot call `require`.
 *
 * @type {import('esbuild').Plugin}
 */
const nodeModules = {
  name: 'node-modules',
  setup(build) {
    build.onResolve({ filter: NODE }, ({ path, kind }) =>
      kind === 'require-call' ? { path, namespace: REQUIRED } : { path, external: true },
    )
    build.onLoad({ filter: /.*/, namespace: REQUIRED }, ({ path }) => ({
      contents: `import required from '${path}'; module.exports = required`,
    }))
  },
}

/**
 * Builds the Worker into a folder, and deletes modules of earlier builds there.
 *
 * @param {string} outdir
 * @returns {Promise<import('esbuild').Metafile>}
 * @throws {Error} with the messages of esbuild
 */
export async function buildWorker(outdir) {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: 'src/index.ts' },
    outdir,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    sourcemap: true,
    sourceRoot: outdir,
    minify: true,
    format: 'esm',
    // The platform, conditions and target of wrangler.
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2024',
    define: { 'process.env.NODE_ENV': '"production"' },
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    // Modules of text and WebAssembly are uploaded as they are.
    loader: { '.sql': 'copy', '.wasm': 'copy' },
    external: ['cloudflare:*', 'pg-native'],
    plugins: [nodeModules],
    logLevel: 'error',
  })
  mkdirSync(outdir, { recursive: true })
  const names = new Set()
  for (const { path, contents } of outputFiles) {
    names.add(basename(path))
    writeFileSync(path, contents)
  }
  for (const name of readdirSync(outdir)) if (!names.has(name)) rmSync(join(outdir, name), { recursive: true })
  return metafile
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWorker(UPLOAD)
