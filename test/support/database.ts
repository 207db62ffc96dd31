import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    database: 'd1' | 'postgresql'
    isNightly: boolean
  }
}

/** The database of this Vitest project (vitest.config.ts). */
export const DATABASE = inject('database')
export const DATABASE_NAME = DATABASE === 'd1' ? 'D1' : 'PostgreSQL'
/** Whether this is a nightly run. */
export const IS_NIGHTLY = inject('isNightly')
