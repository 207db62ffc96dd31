import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { sourceFiles } from '../support/sources'

/** The import law of docs/architecture.md: which layer can import which others, and which packages. */
const SRC = join(ROOT, 'src')

/** Packages that the domain can use, each with its reason: no I/O, no globals, and they run in workerd. */
const PURE: Record<string, string> = {
  '@orama/stemmers': 'stems 24 languages as PostgreSQL does',
  '@lezer/markdown': 'finds Markdown blocks in linear time, and in steps',
  'node:crypto': 'SHA-256 of a stream, in workerd and Node alike; Web Crypto knows whole texts only',
  'node:buffer': 'base64 in workerd and Node alike (Node 24 has no Uint8Array.fromBase64)',
  diff: 'unified diffs of two texts, with a bound on its work',
  porter2: 'stems English as PostgreSQL does, which the English of @orama/stemmers does not',
  stopword: 'words that hold sentences together, in 16 languages; lists, and nothing that runs',
  'temporal-polyfill':
    'days and local times of time zones by the rules of Temporal, which neither workerd nor Node 24 has yet; 19 KB compressed',
  re2js: 'regular expressions (RE2 syntax) that cannot take forever: no backtracking',
}
const pure = new RegExp(`^(${Object.keys(PURE).join('|')})(/|$)`)

const FLOORS: Record<string, { floors: string[]; packages: RegExp | null }> = {
  domain: { floors: ['domain'], packages: pure },
  ports: { floors: ['domain', 'ports'], packages: null },
  services: { floors: ['domain', 'ports', 'services'], packages: null },
  integrations: { floors: ['domain', 'integrations'], packages: null },
  adapters: {
    floors: ['domain', 'ports', 'adapters'],
    // A socket for the PostgreSQL driver communicates by events.
    packages: /^(drizzle-orm|pg|jose|cloudflare:workers|cloudflare:sockets|node:events|@lezer)(\/|$)/,
  },
  tools: { floors: ['domain', 'integrations', 'services', 'tools', 'config'], packages: /^zod$/ },
  http: {
    floors: ['domain', 'integrations', 'services', 'tools', 'http', 'config'],
    packages:
      /^(hono|openapi3-ts|@modelcontextprotocol\/server|agents\/mcp\/server|@cloudflare\/workers-oauth-provider|zod)(\/|$)/,
  },
}

/** Adapter folders that other adapters can import, and which ones; null for all. */
const SHARED_ADAPTERS: Record<string, readonly string[] | null> = {
  sql: null,
  'http-json': null,
  sqlite: ['d1'],
}

const mayBuildOn = (own: string, other: string): boolean => {
  const users = SHARED_ADAPTERS[other]
  return users === null || users?.includes(own) === true
}

const imports = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map(
    (match) => (match[1] ?? match[2]) as string,
  )

const floorOf = (path: string): string => (path.split('/')[0] as string).replace(/\.ts$/, '')

it('keeps the import law between floors', () => {
  const broken: string[] = []
  for (const file of sourceFiles(SRC)) {
    const from = relative(SRC, file)
    const law = FLOORS[floorOf(from)]
    if (law === undefined) continue
    for (const target of imports(file)) {
      if (!target.startsWith('.')) {
        if (law.packages === null || !law.packages.test(target)) broken.push(`${from} imports ${target}`)
        continue
      }
      const to = relative(SRC, join(dirname(file), target))
      if (!law.floors.includes(floorOf(to))) broken.push(`${from} imports ${to}`)
      const [own, other] = [from.split('/')[1], to.split('/')[1]] as [string, string]
      if (floorOf(from) === 'adapters' && floorOf(to) === 'adapters' && own !== other && !mayBuildOn(own, other))
        broken.push(`${from} imports ${to}`)
    }
  }
  expect(broken).toEqual([])
})

/** Layers of the adapter that both databases share, each with its allowed imports. */
const STRATA: Record<string, readonly string[]> = {
  plan: ['plan'],
  core: ['core', 'plan'],
  tables: ['core', 'tables'],
  stores: ['core', 'tables'],
}

it('keeps the strata of SQL: plan, then core, then tables, then stores, and no store builds on another', () => {
  const sql = join(SRC, 'adapters', 'sql')
  const broken = sourceFiles(sql).flatMap((file) => {
    const from = relative(sql, file).split('/')
    return imports(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => relative(sql, join(dirname(file), target)))
      .filter((to) => !to.startsWith('..') && dirname(to) !== from.slice(0, -1).join('/'))
      .filter((to) => STRATA[from[0] as string]?.includes(to.split('/')[0] as string) !== true)
      .map((to) => `${from.join('/')} imports ${to}`)
  })
  expect(broken).toEqual([])
})

it('has no two folders that import each other, at any depth', () => {
  const arrows = new Set<string>()
  for (const file of sourceFiles(SRC))
    for (const target of imports(file).filter((name) => name.startsWith('.'))) {
      const from = relative(SRC, dirname(file)).split('/')
      const to = relative(SRC, dirname(join(dirname(file), target))).split('/')
      const at = from.findIndex((step, i) => step !== to[i])
      if (at >= 0 && to[at]) arrows.add([from.slice(0, at).join('/'), from[at], to[at]].join('|'))
    }
  const both = [...arrows].filter((arrow) => {
    const [parent, a, b] = arrow.split('|') as [string, string, string]
    return a < b && arrows.has([parent, b, a].join('|'))
  })
  expect(both).toEqual([])
})

it('has no circles of imports', () => {
  const graph = new Map(
    sourceFiles(SRC).map((file) => {
      const own = imports(file).filter((target) => target.startsWith('.'))
      const targets = own.map((target) => join(dirname(file), target))
      return [file, targets.map((path) => [`${path}.ts`, `${path}.tsx`, join(path, 'index.ts')])] as const
    }),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, way: readonly string[]): void => {
    const again = way.indexOf(file)
    if (again >= 0) circles.push([...way.slice(again), file].map((step) => relative(SRC, step)).join(' → '))
    if (again >= 0 || done.has(file)) return
    for (const names of graph.get(file) ?? []) {
      const target = names.find((name) => graph.has(name))
      if (target !== undefined) walk(target, [...way, file])
    }
    done.add(file)
  }
  for (const file of graph.keys()) walk(file, [])
  expect(circles).toEqual([])
})

/** Statements that contain a part of the access rule outside of its file, each with its reason. */
const SPELT: Record<string, string> = {
  'sql/tables/entries/repeated-turn.ts':
    'an index leads to the newest turn by each reader and project; what it leads to is asked by the rule',
  'sql/tables/pages/tags.ts': 'an index leads to the rows of tags by each project',
  'sql/tables/writes/history-statements.ts': 'an entry whose last state has expired has no history',
  'sql/stores/overview/store-overview.ts': 'a deleted entry whose last state has expired cannot be restored',
  'sql/tables/counts/visible-counts.ts': 'invisible entries are subtracted from counters',
  'sql/tables/changes/eviction.ts': 'a capacity is shared by all readers of the entries',
  'sql/tables/memories/memory-statements.ts': 'a summary that all may read takes in only what all may read',
  'sql/tables/memories/duplicates.ts': 'equal memories are read by the same readers',
  'sql/stores/identity/identity-store.ts': 'the end of a key, not of an entry',
  'sql/tables/packs/pack-statements.ts': 'an index leads to the pages of a diary',
}

it('spells who may read and who may change an entry in one file', () => {
  const part = /\b\w+\.reader (=|IN|<>) |\bexpires_at (>|<)|\.project IN \$\{/
  const spelling = sourceFiles(join(SRC, 'adapters'))
    .map((file) => [relative(join(SRC, 'adapters'), file), readFileSync(file, 'utf8')] as const)
    .filter(([file, text]) => file !== 'sql/core/visibility.ts' && text.split('\n').some((line) => part.test(line)))
    .map(([file]) => file)
  expect(spelling.toSorted()).toEqual(Object.keys(SPELT).toSorted())
})

it('reads no result of a batch by its position: only the named batch connects statements and rows', () => {
  const adapters = join(SRC, 'adapters')
  // Modules that run or wrap statements, in addition to the named batch.
  const engines = /^sql\/core\/(batch|packed|sharing-reads|connection)\.ts$|^(d1|postgres)\/|^code\//
  const byPlace = sourceFiles(adapters)
    .map((file) => [relative(adapters, file), readFileSync(file, 'utf8')] as const)
    .filter(([file, text]) => !engines.test(file) && /\b(connection|db)\.(batch|read)\b|Row\[\]\[\]/.test(text))
  expect(byPlace.map(([file]) => file)).toEqual([])
})

it('keeps files that hold secrets out of git, and their examples in it', () => {
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['.dev.vars', '.dev.vars.*', '.env', '.env.*', '!.env.example']))
})
