import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    database: 'd1' | 'postgresql'
    isNightly: boolean
  }
}

/** The database on which the project of this file plays (vitest.config.ts). */
export const DATABASE = inject('database')
export const DATABASE_NAME = DATABASE === 'd1' ? 'D1' : 'PostgreSQL'
/** Whether this is a run of the nightly tier. */
export const IS_NIGHTLY = inject('isNightly')
