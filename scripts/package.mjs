// Runs before `npm pack`: builds the files that replace the Worker's sources in the package, into dist.
//   dist/worker      the Worker as it is uploaded, its SQL, and how the simulator binds it, on D1 and on PostgreSQL
//   dist/cli         the parts of the command line that are written in TypeScript
//   dist/onnxruntime what runs the built-in model where onnxruntime-node is not installed: three files instead of a package of 148 MB
//   dist/THIRD-PARTY-NOTICES.txt  the licenses of the bundled packages
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { builtLibrary } from '../src/cli/bundle.mjs'
import { BUILT, ROOT } from '../src/cli/place.mjs'
import { builtOptions, workerOptionsOf } from '../src/cli/worker-options.mjs'
import { noticesOf } from './package-notices.mjs'
import { bundleWorker, modulesOf } from './serve/bundle.mjs'

const LIBRARIES = ['check', 'copy', 'import', 'learn', 'markdown', 'memory-test', 'setup'].map((name) =>
  join(ROOT, 'src', 'cli', name, 'library.ts'),
)
const CONFIGURATIONS = ['wrangler.toml', 'wrangler.postgres.toml']

/** @returns {Promise<string[]>} the source files of the Worker */
async function buildWorker() {
  const bundle = await bundleWorker()
  const folder = join(BUILT, 'worker')
  mkdirSync(folder, { recursive: true })
  const names = modulesOf(bundle).map(({ path }) => basename(path))
  for (const name of names) cpSync(join(bundle, name), join(folder, name))
  // The address of the database is passed when a server starts.
  process.env.CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HYPERDRIVE ??= 'postgres://user:password@localhost/database'
  for (const config of CONFIGURATIONS) {
    const { rootPath: _, hyperdrives: __, ...options } = await workerOptionsOf(config)
    writeFileSync(builtOptions(config), `${JSON.stringify(options, null, 2)}\n`)
  }
  return names.flatMap((name) => {
    if (!name.endsWith('.js')) return []
    const { sources } = JSON.parse(readFileSync(join(bundle, `${name}.map`), 'utf8'))
    return sources.map((/** @type {string} */ source) => resolve(bundle, source))
  })
}

/** @returns {Promise<string[]>} the source files of the libraries */
async function buildLibraries() {
  const files = []
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  for (const entry of LIBRARIES) {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      metafile: true,
      entryPoints: [entry],
      outfile: builtLibrary(entry),
      bundle: true,
      platform: 'node',
      format: 'esm',
      // The driver selects its parts when it is loaded, so it stays a package.
      external: ['pg'],
      loader: { '.sql': 'text' },
      // CommonJS packages load Node's modules with require.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'error',
    })
    const [output] = Object.values(/** @type {import('esbuild').Metafile} */ (metafile).outputs)
    for (const [file, { bytesInOutput }] of Object.entries(output?.inputs ?? {}))
      if (bytesInOutput > 0) files.push(file)
  }
  return files
}

/** Copies the WebAssembly runtime, the package that it imports, and both licenses. */
async function buildRuntime() {
  const require = createRequire(import.meta.url)
  const { build } = createRequire(require.resolve('wrangler'))('esbuild')
  const source = join(ROOT, 'node_modules', 'onnxruntime-web')
  const folder = join(BUILT, 'onnxruntime')
  await build({
    entryPoints: [join(source, 'dist', 'ort.node.min.mjs')],
    outfile: join(folder, 'ort.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Loaded by its name next to this file, in the thread that runs the model.
    external: ['./ort-wasm-simd-threaded.mjs'],
    logLevel: 'error',
  })
  for (const name of ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'])
    cpSync(join(source, 'dist', name), join(folder, name))
  cpSync(join(ROOT, 'scripts', 'serve', 'model', 'LICENSE.onnxruntime'), join(folder, 'LICENSE'))
}

rmSync(BUILT, { recursive: true, force: true })
const files = [...(await buildWorker()), ...(await buildLibraries())]
await buildRuntime()
writeFileSync(join(BUILT, 'THIRD-PARTY-NOTICES.txt'), noticesOf(ROOT, files))
