// In which order do the statements of several entries run? One entry after the other, or step by step.

import type { SQL } from 'drizzle-orm'
import { Batch, type Handle } from './batch'
import type { Row } from './connection'
import type { SqlDialect } from './dialect'
import { onlyRow } from './rows'

/**
 * The statements of all parts, of each of which the first returns a row: the first ones of all parts, then the second ones and so on, where
 * that makes statements alike follow each other.
 */
export function arrange<T>(
  { likeTogether }: Pick<SqlDialect, 'likeTogether'>,
  parts: readonly (readonly SQL[])[],
  decode: (row: Row) => T,
): { readonly batch: Batch; readonly firsts: readonly Handle<T>[] } {
  const batch = new Batch()
  const firsts: Handle<T>[] = []
  for (const [first, ...others] of parts) {
    if (first === undefined) throw new Error('a part without statements')
    firsts.push(batch.add(first, onlyRow(decode)))
    if (!likeTogether) batch.do(others)
  }
  const steps = likeTogether ? Math.max(0, ...parts.map(({ length }) => length)) : 0
  for (let step = 1; step < steps; step++) batch.do(parts.flatMap((part) => part[step] ?? []))
  return { batch, firsts }
}
