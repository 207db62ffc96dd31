// `node scripts/mcpb.mjs [FILE]`: packs the extension for Claude Desktop (mcpb/manifest.json) with the official packer.
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packExtension } from '@anthropic-ai/mcpb'
import { root } from './install.mjs'

/**
 * @param {string} output the file
 * @param {string} staging a folder for its content
 * @returns {Promise<void>}
 */
export async function packDesktopExtension(output, staging = join(root, '.tmp', 'mcpb')) {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(join(staging, 'server'), { recursive: true })
  copyFileSync(join(root, 'mcpb', 'manifest.json'), join(staging, 'manifest.json'))
  copyFileSync(join(root, 'LICENSE'), join(staging, 'LICENSE'))
  await build({
    entryPoints: [join(root, 'mcpb', 'stdio.mjs')],
    outfile: join(staging, 'server', 'stdio.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'error',
  })
  if (!(await packExtension({ extensionPath: staging, outputPath: output, silent: true })))
    throw new Error(`${output} was not packed: mcpb/manifest.json is not valid`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'mcpb', 'manifest.json'), 'utf8'))
  const output = resolve(process.argv[2] ?? join(root, `${name}-${version}.mcpb`))
  await packDesktopExtension(output)
  console.log(output)
}
