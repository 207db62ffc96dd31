// `node scripts/release.mjs VERSION [--dry-run]`: sets the version, closes the changelog, records the schema, commits, packs the package
// and the extension for Claude Desktop, checks the package from the outside, and tags. It pushes and publishes nothing.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.mjs'
import { FILES, Refused, releaseOf } from './release/files.mjs'
import { checkOutside } from './release/outside.mjs'

const text = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8')
const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

function readSources() {
  const migrations = ['d1', 'postgres'].flatMap((engine) =>
    readdirSync(join(root, 'migrations', engine))
      .filter((name) => name.endsWith('.sql'))
      .map((name) => [`${engine}/${name}`, text(`migrations/${engine}/${name}`)]),
  )
  return {
    files: Object.fromEntries(FILES.map((path) => [path, text(path)])),
    migrations: Object.fromEntries(migrations),
    commit: git('rev-parse', 'HEAD'),
  }
}

/** @param {string} script @param {string[]} args */
const run = (script, ...args) =>
  execFileSync(process.execPath, [join(root, script), ...args], { cwd: root, stdio: 'inherit' })

try {
  const [version, ...flags] = process.argv.slice(2)
  if (version === undefined || flags.some((flag) => flag !== '--dry-run'))
    throw new Refused('usage: node scripts/release.mjs VERSION [--dry-run]')
  const changed = releaseOf(readSources(), version, new Date().toISOString().slice(0, 10))
  if (flags.length > 0) {
    console.log(`Nothing is changed (--dry-run). ${version} would change:`)
    for (const file of Object.keys(changed)) console.log(`  ${file}`)
    console.log(`  and commit, tag v${version} and pack the package and the extension`)
  } else {
    if (git('status', '--porcelain') !== '') throw new Refused('There are uncommitted changes')
    if (git('tag', '--list', `v${version}`) !== '') throw new Refused(`The tag v${version} already exists`)
    for (const [file, content] of Object.entries(changed)) writeFileSync(join(root, file), content)
    run('scripts/plugins.mjs', '--check')
    git('add', ...Object.keys(changed))
    git('commit', '-m', `Release ${version}`)
    execFileSync('npm', ['pack', '--silent'], { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
    run('scripts/mcpb.mjs')
    await checkOutside(join(root, `commonplace-mcp-${version}.tgz`), version)
    // Last, so that a release that fails its check can be repeated after `git reset --hard HEAD~1`.
    git('tag', '-a', `v${version}`, '-m', `Commonplace ${version}`)
    console.log(`Released ${version} here; publish it with: git push --follow-tags`)
  }
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 2
}
