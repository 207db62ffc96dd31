// Which few entries does a filter admit, where no index leads to them?
import type { SQL } from 'drizzle-orm'
import type { Filter } from '../../../../domain/search/filter'
import type { Yielder } from '../../../../domain/yielder'
import { type Decode, readOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { ReadContext } from '../entries/read-statements'

/**
 * All entries are gone through in parts, a row each, until more than that are found. Null where it admits more, and of a database whose
 * statements may go through any number, which needs no such way.
 *
 * @throws Problem limit_exceeded when the filter asks for too much
 */
export async function fewAdmitted(
  connection: SqlConnection,
  yielder: Yielder,
  context: ReadContext,
  filter: Filter,
  most: number,
): Promise<readonly number[] | null> {
  const { bounded } = connection.dialect
  if (bounded === null) return null
  const read = <T>(statement: SQL, decode: Decode<T>): Promise<T> => readOne(connection, statement, decode)
  const { ids, total, isExact } = await bounded.page(read, yielder, context, filter, { limit: most, offset: 0 })
  return isExact && total <= most ? ids : null
}
