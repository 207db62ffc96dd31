import type { SQL } from 'drizzle-orm'
import { render } from '../../src/adapters/sql/core/connection'

/** Returns whether these are the statements of a batch that writes entries, recognized by its frame (`writing.ts`). */
export const writesEntries = (statements: readonly SQL[]): boolean =>
  statements.some((statement) => render(statement, () => '?').includes('INSERT INTO write_context '))
