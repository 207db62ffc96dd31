import type { SQL } from 'drizzle-orm'
import { render } from '../../src/adapters/sql/core/connection'

/** Whether the statements of a batch write entries, recognized by its first and last statement (`writing.ts`). */
export const writesEntries = (statements: readonly SQL[]): boolean =>
  statements.some((statement) => render(statement, () => '?').includes('INSERT INTO write_context '))
