import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { noticesOf } from '../../scripts/package-notices.mjs'
import { VARIABLES } from '../../src/config'
import { ABOUT } from '../../src/domain/about'
import { ROOT } from '../support/build'
import { readDockerfile } from '../support/dockerfile'

/** The published package by its files; test/nightly/node/package-postgres.test.ts runs it. */
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))
const [bin] = Object.values<string>(manifest.bin)

describe('the package', () => {
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      ...{ cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      shell: process.platform === 'win32',
    }),
  ) as [{ files: { path: string }[] }]
  const packed = new Set(files.map(({ path }) => path))

  /** Programs that are started as separate processes. */
  const STARTED = [
    ...['scripts/serve/worker.mjs', 'scripts/serve/model/thread.mjs', 'src/cli/migrate-postgres.mjs'],
    'plugins/commonplace/hook.mjs',
  ]
  /** Modules used only in a checkout, and the native runtime, which is optional. */
  const OF_A_CHECKOUT = new Set(['wrangler', 'onnxruntime-web', 'onnxruntime-node'])

  it('holds every file that its program imports, and depends on every package that these name', () => {
    const [missing, foreign]: [string[], string[]] = [[], []]
    const seen = new Set<string>()
    const follow = (path: string) => {
      if (seen.has(path)) return
      seen.add(path)
      if (!packed.has(path)) return missing.push(path)
      // Types in comments are not imports.
      const text = read(path).replaceAll(/\/\*[\s\S]*?\*\//g, '')
      for (const [, name = ''] of text.matchAll(/(?:^import|\bfrom|import\()\s*'([\w@./-]+)'/gm))
        if (name.startsWith('.')) follow(join(dirname(path), name))
        else if (!isBuiltin(name)) {
          const owner = name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/')
          if (manifest.dependencies[owner] === undefined && !OF_A_CHECKOUT.has(owner)) foreign.push(`${path}: ${owner}`)
        }
    }
    for (const path of [bin ?? '', ...STARTED]) follow(path)
    expect(seen.size).toBeGreaterThan(40)
    expect([missing, foreign]).toEqual([[], []])
  })

  it('holds no source of the Worker, which it has built, and nothing of tests', () => {
    const own = [...packed].filter((path) => !path.startsWith('node_modules/'))
    expect(own.filter((path) => /\.tsx?$|^(test|bench|docs)\//.test(path))).toEqual([])
    expect(manifest.files).toContain('dist')
    expect(manifest.scripts.prepack).toContain('scripts/package.mjs')
  })

  it('has no model runtime as a dependency, and runs no install script of one', () => {
    const named = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
    expect(named.filter((name) => name.startsWith('onnxruntime'))).toEqual([])
    expect(manifest.allowScripts['onnxruntime-node']).toBe(false)
    // For npm versions that do not support that list.
    expect(read('.npmrc')).toContain('onnxruntime-node-install=skip')
    for (const name of ['node', 'web', 'common'])
      expect(manifest.devDependencies[`onnxruntime-${name}`]).toBe(manifest.devDependencies['onnxruntime-node'])
  })

  it('contains what its commands run as they were tested, and leaves to npm only what depends on the platform', () => {
    const { packages } = JSON.parse(read('package-lock.json'))
    const bundled = new Set(
      [...packed].flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    )
    // The simulator pins its own packages, including those with binaries per platform.
    expect(Object.keys(manifest.dependencies).filter((name) => !bundled.has(name))).toEqual(['miniflare'])
    const { dependencies } = packages['node_modules/miniflare']
    for (const version of [...Object.values(manifest.dependencies), ...Object.values(dependencies)])
      expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    for (const name of bundled) {
      const { version, inBundle, os, cpu, hasInstallScript } = packages[`node_modules/${name}`]
      expect([name, inBundle, os, cpu, hasInstallScript]).toEqual([name, true, undefined, undefined, undefined])
      expect([name, JSON.parse(read(`node_modules/${name}/package.json`)).version]).toEqual([name, version])
    }
  })

  it('names the license of each package whose code it bundles', () => {
    const modules = [
      'node_modules/hono/dist/index.js',
      'node_modules/pg-types/index.js',
      'node_modules/drizzle-orm/index.js',
    ]
    const notices = noticesOf(ROOT, [
      ...modules,
      'src/index.ts',
      'node_modules/zod/index.js',
      'node_modules/zod/v4/index.js',
    ])
    expect([...notices.matchAll(/^(\S+) \S+\nLicense: (.*)$/gm)].map(([, name, license]) => [name, license])).toEqual([
      ['drizzle-orm', 'Apache-2.0'],
      ['hono', 'MIT'],
      ['pg-types', 'MIT'],
      ['zod', 'MIT'],
    ])
    expect(notices).toMatch(/Copyright \(c\) \d{4} - present, Yusuke Wada/)
  })

  it('contains migrations of PostgreSQL, and plugins with their marketplace', () => {
    for (const path of [
      'migrations/postgres/0001_initial.sql',
      'plugins/commonplace/hook.mjs',
      '.claude-plugin/marketplace.json',
    ])
      expect(packed).toContain(path)
  })
})

describe('the container', () => {
  const steps = readDockerfile()
  const of = (name: string) => steps.filter((step) => step.name === name).map(({ text }) => text)
  const compose = parse(read('compose.yaml'))
  const { commonplace, database, ollama, pooler } = compose.services

  it('copies what there is, names the Node of this checkout, and starts the program of the package without root', () => {
    const images = new Set(of('FROM').map((text) => text.split(' ')[0] ?? ''))
    expect(images.size).toBe(1)
    const [image = '', digest] = [...images][0]?.split('@') ?? []
    expect(image).toBe(`node:${manifest.optionalDependencies.node}-bookworm-slim`)
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    // The source of the digest, for the next update.
    expect(read('Dockerfile')).toMatch(/docker-library\/repo-info at\n# [0-9a-f]{40} \(repos\/node\/remote\//)
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', bin])
    expect(of('USER')).toEqual(['node'])
    for (const variable of of('ENV').map((text) => text.split('=')[0]))
      expect(['COMMONPLACE_DATA', ...VARIABLES]).toContain(variable)
  })

  it('has one port and one path of health, where the server has them', () => {
    const [port] = of('EXPOSE')
    expect(JSON.parse(of('CMD')[0] ?? '')).toEqual(['start', '--ip', '0.0.0.0', '--port', port])
    const [, url = ''] = /fetch\('([^']+)'\)/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
    expect([new URL(url).port, new URL(url).pathname]).toEqual([port, '/health'])
    expect(read('src/http/app.ts') + read('src/http/health.ts')).toContain("'/health'")
    expect(commonplace.ports).toEqual([`127.0.0.1:${port}:${port}`])
  })

  it('is composed with a database whose name, user and password are those of its address, and keeps both in volumes', () => {
    expect(commonplace.build).toBe('.')
    expect(existsSync(join(ROOT, commonplace.build, 'Dockerfile'))).toBe(true)
    const { DATABASE_URL, DATABASE_POOL_URL, ...environment } = commonplace.environment
    for (const name of Object.keys(environment)) expect(VARIABLES).toContain(name)
    const url = new URL(DATABASE_URL.replaceAll(/\$\{(\w+)[^}]*\}/g, '$1'))
    const { POSTGRES_USER, POSTGRES_DB } = database.environment
    expect([url.hostname, url.username, url.password, url.pathname]).toEqual([
      ...['database', POSTGRES_USER, 'POSTGRES_PASSWORD', `/${POSTGRES_DB}`],
    ])
    expect(database.image).toMatch(/^pgvector\/pgvector:0\.[89]\.\d+-pg\d+$/)
    expect(commonplace.depends_on).toEqual({
      database: { condition: 'service_healthy' },
      pooler: { condition: 'service_started' },
    })
    // The pooler connects to the same database as the same user, and requests use the pooler.
    expect(DATABASE_POOL_URL).toBe(DATABASE_URL.replace(/:\?[^}]*\}/, '}').replace('@database:', '@pooler:'))
    expect(pooler.image).toMatch(/^edoburu\/pgbouncer:v1\.\d+\.\d+-p\d+$/)
    expect(pooler.environment).toMatchObject({
      ...{ DB_HOST: 'database', DB_USER: POSTGRES_USER, DB_NAME: POSTGRES_DB },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose puts the value in
      DB_PASSWORD: '${POSTGRES_PASSWORD}',
      ...{ AUTH_TYPE: 'scram-sha-256', POOL_MODE: 'transaction' },
    })
    const volumes = [commonplace, database, ollama].map((service) => service.volumes[0].split(':'))
    expect(volumes[0]?.[1]).toBe(of('VOLUME')[0])
    expect(volumes.map(([name]) => name).sort()).toEqual(Object.keys(compose.volumes).sort())
  })
})

/**
 * The members of server.schema.json (2025-12-11, static.modelcontextprotocol.io) that we use; unknown members are
 * rejected.
 */
const input = {
  description: z.string(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  placeholder: z.string().optional(),
}
const variables = z.record(z.string(), z.strictObject(input))
const exact = z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
const registered = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: exact,
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      registryBaseUrl: z.literal('https://registry.npmjs.org'),
      identifier: z.string(),
      version: exact,
      runtimeHint: z.string(),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(z.strictObject({ type: z.literal('positional'), value: z.string() })),
      environmentVariables: z.array(z.strictObject({ name: z.string(), ...input })),
    }),
  ),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().regex(/^https?:\/\/[^\s]+$/),
      variables,
      headers: z.array(z.strictObject({ name: z.string(), description: z.string(), value: z.string(), variables })),
    }),
  ),
})

describe('server.json, for the registry of MCP', () => {
  const server = registered.parse(JSON.parse(read('server.json')))

  it('has the shape that the registry requires, and the description of the server itself', () => {
    const { name, title, description, version } = server
    expect({ name, title, description, version }).toEqual(ABOUT)
    expect(server.packages).toMatchObject([{ identifier: manifest.name, version: manifest.version }])
    // With this name the registry knows that the package belongs to the entry.
    expect(manifest.mcpName).toBe(ABOUT.name)
  })

  it('names every variable of an address or header', () => {
    for (const remote of server.remotes) {
      const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(remote.variables)).toEqual(names(remote.url))
      for (const header of remote.headers) expect(Object.keys(header.variables)).toEqual(names(header.value))
    }
  })
})

it('has the same description of the extension for Claude Desktop', () => {
  const { display_name, description, version } = JSON.parse(read('mcpb/manifest.json'))
  expect([display_name, description, version]).toEqual([ABOUT.title, ABOUT.description, ABOUT.version])
})
