// Which filter of metadata was meant by a wrong one?
import type { Scalar } from '../domain/search/filter'
import { OPERATORS, type Operator, readPath, takesList, takesNoValue } from './metadata-condition'
import { isRecord } from './record'

/** What an operator could be given, for a key that is one; what was meant where it is wrong, nobody knows. */
function rightValue(operator: Operator): { readonly value?: Scalar | readonly Scalar[] } {
  if (takesNoValue(operator)) return {}
  if (takesList(operator)) return { value: ['done', 'doing'] }
  return { value: ['gt', 'gte', 'lt', 'lte'].includes(operator) ? 3 : 'done' }
}

/** A right filter that is as near to a wrong one as can be told: its key and its operator, where these are right. */
export function rightFilter(given: unknown): Record<string, unknown> {
  const { key, operator } = isRecord(given) ? given : {}
  const right = OPERATORS.find((one) => one === operator) ?? 'eq'
  return {
    key: typeof key === 'string' && readPath(key) !== null ? key : 'status',
    operator: right,
    ...rightValue(right),
  }
}
