// Which few entries does a filter admit, where no index leads to them?
import type { SQL } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { Filter } from '../../../../domain/search/filter'
import { tooMuchAsked } from '../../../../domain/search/filter-weight'
import { type Decode, readOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { ReadContext } from '../entries/read-statements'

/** D1 answers a thousand of a request, and the other ways take up to nine hundred. */
const MOST_STATEMENTS = 60

/**
 * All entries are gone through in parts, a row each, until more than that are found. Null where it admits more or asks too much of them for
 * that, so that other ways are left, and of a database whose statements may go through any number, which needs no such way.
 */
export async function fewAdmitted(
  connection: SqlConnection,
  context: ReadContext,
  filter: Filter,
  most: number,
): Promise<readonly number[] | null> {
  const { bounded } = connection.dialect
  if (bounded === null) return null
  let statements = 0
  const read = <T>(statement: SQL, decode: Decode<T>): Promise<T> => {
    if (++statements > MOST_STATEMENTS) throw tooMuchAsked()
    return readOne(connection, statement, decode)
  }
  try {
    const { ids, total, isExact } = await bounded.page(read, context, filter, { limit: most, offset: 0 })
    return isExact && total <= most ? ids : null
  } catch (error) {
    if (error instanceof Problem && error.code === 'limit_exceeded') return null
    throw error
  }
}
