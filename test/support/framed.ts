import type { SQL } from 'drizzle-orm'
import { render } from '../../src/adapters/sql/core/render'

/** Whether these are the statements of a batch that writes entries: what it says, since it stands in a frame (`writing.ts`). */
export const writesEntries = (statements: readonly SQL[]): boolean =>
  statements.some((statement) => render(statement, () => '?').includes('INSERT INTO write_context '))
