// Installs PostgreSQL with pgvector if none is configured: unpacks Debian's packages into a cache folder without
// changing the machine, and builds pgvector from Debian's source package, because Debian 12 has no binary package of it.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Increased when the unpacked content changes, so that older caches are not used. */
const FORMAT = 1

/** The Debian release whose source package of pgvector is built: the first with 0.8. */
const PGVECTOR_SUITE = 'trixie'

const isRoot = process.getuid?.() === 0

/** The server's user cannot read root's own cache, so root uses the machine's. */
const cacheRoot = () =>
  process.env.COMMONPLACE_POSTGRES_CACHE ??
  (isRoot ? '/var/cache' : (process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')))

/** @typedef {{ root: string, bin: string, pgbouncer: string, libraries: string }} Installation */

/** @returns {Installation} */
function describe(root) {
  const base = join(root, 'usr/lib/postgresql')
  const major = readdirSync(base).sort((a, b) => Number(b) - Number(a))[0]
  const triplet = readdirSync(join(root, 'usr/lib')).find((name) => name.endsWith('-linux-gnu')) ?? 'lib'
  return {
    root,
    bin: join(base, major, 'bin'),
    pgbouncer: join(root, 'usr/sbin/pgbouncer'),
    libraries: join(root, 'usr/lib', triplet),
  }
}

function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  })
  if (status === 0) return stdout
  const said = error?.message ?? `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-12).join('\n')
  throw new Error(`${command} ${args.slice(-3).join(' ')} failed:\n${said}`)
}

const debianRelease = () => {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  return /^ID=debian$/m.test(release) ? /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] : undefined
}

/** Runs apt with its state in our own folder: without root, and without changing the machine's lists. */
function privateApt(folder) {
  for (const path of ['sources', 'lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, path), { recursive: true })
  const system = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((path) => existsSync(path))
  if (system.length === 0) throw new Error('apt has no list of Debian sources on this machine')
  for (const path of system)
    cpSync(path, join(folder, 'sources', path.endsWith('.list') ? 'system.list' : 'system.sources'))
  const mirror = system
    .map((path) => /https?:\/\/\S+\/debian\/?(?=\s)/.exec(readFileSync(path, 'utf8'))?.[0])
    .find(Boolean)
  if (!mirror) throw new Error('apt names no mirror of Debian on this machine')
  writeFileSync(
    join(folder, 'sources/pgvector.sources'),
    `Types: deb-src\nURIs: ${mirror}\nSuites: ${PGVECTOR_SUITE}\nComponents: main\nSigned-By: ` +
      '/usr/share/keyrings/debian-archive-keyring.gpg\n',
  )
  const options = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': join(folder, 'sources'),
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': run('id', ['-un']).trim(),
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    'Debug::NoLocking': '1',
  }
  const flags = ['-q', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
  return (program, ...args) => run(program, [...flags, ...args], { cwd: folder, env: { ...process.env, LC_ALL: 'C' } })
}

/** Returns the packages that this machine lacks, by a simulated installation. */
function missingDependencies(apt, packages) {
  const plan = apt('apt-get', '-s', '--no-install-recommends', 'install', ...packages)
  const names = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name)
  // Libraries only: unpacked programs that need a user, a service or a language are not run.
  return names.filter((name) => name.startsWith('lib') && !packages.includes(name))
}

function needCompiler(say) {
  const missing = ['gcc', 'make'].filter((name) => spawnSync(name, ['--version']).error)
  if (missing.length === 0) return
  if (!isRoot) throw new Error(`${missing.join(' and ')} must be installed to build pgvector`)
  say(`Installing ${missing.join(' and ')} …`)
  run('apt-get', ['-qq', 'update'])
  run('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', ...missing, 'libc6-dev'])
}

function buildPgvector(apt, folder, root) {
  apt('apt-get', 'source', '--download-only', 'pgvector')
  const archive = readdirSync(folder).find((name) => /^pgvector_.*\.orig\.tar\.\w+$/.test(name))
  if (archive === undefined) throw new Error("Debian's source package of pgvector has no archive")
  const source = join(folder, 'pgvector')
  mkdirSync(source)
  run('tar', ['-xf', join(folder, archive), '-C', source, '--strip-components=1'])
  // Without -march=native the result runs on every machine that shares this cache.
  const how = [`PG_CONFIG=${describe(root).bin}/pg_config`, 'with_llvm=no', 'OPTFLAGS=']
  run('make', ['-s', '-C', source, '-j4', ...how])
  run('make', ['-s', '-C', source, 'install', ...how])
}

function build(root, scratch, say) {
  const apt = privateApt(scratch)
  say('Fetching PostgreSQL and pgbouncer from Debian (once) …')
  apt('apt-get', 'update')
  const major = /Depends: postgresql-(\d+)/.exec(apt('apt-cache', 'depends', 'postgresql'))?.[1]
  if (major === undefined) throw new Error('Debian names no PostgreSQL')
  const packages = [
    `postgresql-${major}`,
    `postgresql-client-${major}`,
    `postgresql-server-dev-${major}`,
    'libpq5',
    'pgbouncer',
  ]
  const needed = missingDependencies(apt, [`postgresql-${major}`, 'pgbouncer'])
  apt('apt-get', 'download', ...new Set([...packages, ...needed]))
  for (const name of readdirSync(scratch).filter((name) => name.endsWith('.deb')))
    run('dpkg', ['-x', join(scratch, name), root])
  needCompiler(say)
  say('Building pgvector (once) …')
  buildPgvector(apt, scratch, root)
}

/**
 * Returns the programs, and installs them if they are missing. Several processes may run at once: each builds separately, the first one wins.
 *
 * @param {(line: string) => void} say receives progress messages
 * @returns {Installation}
 */
export function installPostgres(say = console.error) {
  const release = debianRelease()
  if (release === undefined)
    throw new Error('PostgreSQL can be installed automatically on Debian only; on other systems set PG_URL')
  const cache = join(cacheRoot(), 'commonplace-postgres')
  const final = join(cache, `${release}-${process.arch}-${FORMAT}`)
  if (existsSync(final)) return describe(final)
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(join(cache, 'build-'))
  try {
    const [root, scratch] = [join(aside, 'root'), join(aside, 'scratch')]
    for (const path of [root, scratch]) mkdirSync(path)
    build(root, scratch, say)
    try {
      renameSync(root, final)
    } catch (error) {
      if (!existsSync(final)) throw error
    }
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  return describe(final)
}
