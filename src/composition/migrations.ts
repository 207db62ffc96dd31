import initial from '../../migrations/d1/0001_initial.sql'
import type { Migration } from '../adapters/sqlite/migrations'

/** The D1 migrations that are bundled with this Worker, in order. */
export const D1_MIGRATIONS: readonly Migration[] = [{ name: '0001_initial.sql', sql: initial }]
