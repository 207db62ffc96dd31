import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** Seeds of property tests, which reach workerd as bindings only. */
const seeds = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.endsWith('_SEED')))

/** Tests by runtime: inside workerd, and in plain Node (where real servers and clients are started). */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { AUTH_MODE: 'open', ...seeds } },
          }),
        ],
        test: {
          name: 'worker',
          include: ['test/worker/**/*.test.ts', 'test/meaning/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'node',
          globalSetup: ['test/support/build.ts'],
          include: ['test/node/**/*.test.ts', 'test/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
