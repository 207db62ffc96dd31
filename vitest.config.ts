import './scripts/local-vectors.mjs'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import type { PostgresForTests } from './test/support/postgres-server'

/** Seeds of property tests, which reach workerd as bindings only. */
const seeds = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.endsWith('_SEED')))

const files = (folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)
/** The tests that every change must pass, or the longer ones that `scripts/test.mjs --nightly` selects (test/README.md). */
const NIGHTLY = process.env.COMMONPLACE_TIER === 'nightly'
/** Folders of each runtime. */
const FOLDERS = NIGHTLY
  ? { worker: ['nightly/worker'], node: ['nightly/node'] }
  : { worker: ['worker', 'meaning'], node: ['node', 'e2e'] }
/**
 * Files that play on PostgreSQL too; the nightly tier plays files of the first one there. All others play on D1 alone, and files with
 * `postgres` in their names on PostgreSQL alone.
 */
const ALSO_ON_POSTGRES = NIGHTLY
  ? {
      worker: [
        ...['captured-gold', 'filters', 'isolation', 'isolation-changes'].map((name) => `nightly/worker/${name}`),
        ...['captured-crowd', 'hooks', 'isolation-bytes', 'isolation-narrowed', 'isolation-ranking', 'review'].map(
          (name) => `worker/${name}`,
        ),
      ],
      node: [
        ...['bad-input', 'fuzz', 'history-random'].map((name) => `nightly/node/${name}`),
        ...['administration', 'changes', 'code', 'dashboard-pages', 'endpoint', 'memories', 'numbers', 'packs'].map(
          (name) => `node/${name}`,
        ),
        ...['sizes', 'transfer'].map((name) => `node/${name}`),
      ],
    }
  : {
      worker: [
        ...['hooks', 'isolation', 'key-limits', 'learned', 'notices', 'people', 'projects', 'readers', 'review'].map(
          (name) => `worker/${name}`,
        ),
        ...['meaning/filters', 'meaning/grep'],
      ],
      node: ['builtin-arrival', 'core', 'endpoint', 'rest', 'skills', 'trust'].map((name) => `node/${name}`),
    }

type Runtime = keyof typeof FOLDERS
type Database = 'd1' | 'postgresql'
const DATABASES: readonly Database[] = ['d1', 'postgresql']
const NAMED_AFTER_POSTGRES = '*postgres*.test.ts'

/** The files, the database and the name of a project: `worker` and `node` play on D1, `worker-postgres` and `node-postgres` there. */
const ofDatabase = (runtime: Runtime, database: Database) => ({
  name: database === 'd1' ? runtime : `${runtime}-postgres`,
  provide: { database, isNightly: NIGHTLY },
  ...(database === 'd1'
    ? { include: files(FOLDERS[runtime]), exclude: [`**/${NAMED_AFTER_POSTGRES}`] }
    : {
        include: [
          ...FOLDERS[runtime].map((folder) => `test/${folder}/**/${NAMED_AFTER_POSTGRES}`),
          ...ALSO_ON_POSTGRES[runtime].map((file) => `test/${file}.test.ts`),
        ],
      }),
})
const serverOf = (database: Database) => (database === 'd1' ? [] : ['test/support/postgres-server.ts'])

/**
 * They end what hangs and judge nothing: the slowest test takes a tenth of this on two cores, so that a machine four times slower,
 * or one that does other work, passes as well.
 */
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000, teardownTimeout: 60_000 }

/**
 * A workerd plays many files: to start it and to load the product into it is a few seconds of work. Without the cache of Vitest, which
 * hands over all modules that it has of a file in one message: once they were more than 32 MiB, workerd hung up (WebSocket 1009).
 */
const ONE_PROCESS = { isolate: false, fsModuleCache: false }

/**
 * Packages of many modules, made one file each: workerd is handed modules one by one. All that anything names of such a package stands
 * here, because other modules would be loaded a second time.
 */
const IN_ONE_FILE = [
  '@modelcontextprotocol/server',
  'diff',
  'drizzle-orm',
  'drizzle-orm/sqlite-core',
  'stopword',
  'temporal-polyfill/implementation',
  'zod',
]

/** Vitest appends a source map to each module without such a comment. The maps of packages would be half of the code that workerd loads. */
const noMapsOfPackages = {
  name: 'no-maps-of-packages',
  enforce: 'post' as const,
  transform: (code: string, id: string) =>
    id.includes('/node_modules/') ? { code: `${code}\n//# sourceMappingSource=vite-generated\n`, map: null } : null,
}

/** Stores for each file that a process may play (test/support/bindings.ts). */
const ownStores = (name: string) =>
  Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`${name}_${i}`, `own-${i}`]))
const OWN_STORES = { d1Databases: ownStores('DB'), r2Buckets: ownStores('IMAGES') }

/** Bindings of PostgreSQL for tests in workerd. */
const bindingsOf = (server: PostgresForTests | undefined) =>
  server === undefined
    ? { bindings: {} }
    : {
        bindings: { POSTGRES_TEMPLATE: server.template, POSTGRES_URL: server.url },
        // Through a pooler, as in production; directly if no pooler is installed.
        hyperdrives: { HYPERDRIVE: server.pooledUrl ?? server.url },
      }

/**
 * Where nothing is known of earlier runs, Vitest begins with the largest files. Files of a few lines call contracts, which take longest, as
 * do those that start what people start: the dashboard in a browser, in a dozen lines, would begin when nothing else is left, and all
 * contracts of a database play alone at the end. Each project's begin with those that call most of them.
 */
class ContractsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const weightOf = ({ moduleId }: TestSpecification): number =>
      (readFileSync(moduleId, 'utf8').match(/from '[./]+\/contracts\//g)?.length ?? 0) +
      (/\be2e\b/.test(moduleId) ? 1 : 0)
    return [...Map.groupBy(sorted, ({ project }) => project).values()].flatMap((own) =>
      own
        .map((file) => ({ file, weight: weightOf(file) }))
        .sort((a, b) => b.weight - a.weight)
        .map(({ file }) => file),
    )
  }
}

/** For the driver's `require`, Vite does not say that this is workerd, and so it would get an empty stand-in for its socket. */
const pgSocket = {
  name: 'pg-socket-in-workerd',
  enforce: 'pre' as const,
  resolveId: (id: string) =>
    id === 'pg-cloudflare'
      ? fileURLToPath(new URL('node_modules/pg-cloudflare/dist/index.js', import.meta.url).href)
      : null,
}

/** Tests by tier and runtime: plain functions; inside workerd, and in plain Node (where real servers and clients are started); both with PostgreSQL too. */
export default defineConfig({
  plugins: [pgSocket],
  test: {
    // Most tests wait for a server, which is a process of its own; by default two cores would play one file at a time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: ContractsFirst },
    reporters: ['default', './test/support/failures.ts'],
    projects: [
      // Plain functions: no Worker, no server, no database. Seconds, at every save.
      // In addition: properties over many, random or large inputs, and the SQL in this process. They take a minute.
      ...['unit', 'properties'].map((name) => ({
        test: { ...PATIENCE, name, isolate: false, include: NIGHTLY ? [] : files([name]) },
      })),
      ...DATABASES.map((database) => ({
        plugins: [
          noMapsOfPackages,
          cloudflareTest(({ inject }) => {
            const { bindings, ...stores } = bindingsOf(database === 'd1' ? undefined : inject('postgres'))
            return {
              main: './src/index.ts',
              wrangler: { configPath: './wrangler.toml' },
              miniflare: {
                // A line a request would hide what a test says.
                bindings: { AUTH_MODE: 'open', LOG_LEVEL: 'WARNING', ...seeds, ...bindings },
                ...OWN_STORES,
                ...stores,
              },
            }
          }),
        ],
        test: {
          ...ofDatabase('worker', database),
          globalSetup: serverOf(database),
          setupFiles: ['test/support/own-stores.ts'],
          deps: { optimizer: { ssr: { enabled: true, include: IN_ONE_FILE } } },
          ...ONE_PROCESS,
          ...PATIENCE,
        },
      })),
      ...DATABASES.map((database) => ({
        test: {
          ...ofDatabase('node', database),
          ...PATIENCE,
          isolate: false,
          globalSetup: ['test/support/build.ts', ...serverOf(database)],
        },
      })),
    ],
  },
})
