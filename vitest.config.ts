import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** Tests by runtime: inside workerd, and in plain Node (where real servers and clients are started). */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { AUTH_MODE: 'open' } },
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
