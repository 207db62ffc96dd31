import { invalidInput } from '../../domain/errors'
import { givenAs, inspected, shortened } from '../../domain/flaws'
import { type Filter, withElementsTogether } from '../../domain/search/filter'
import { readMetadataFilter } from '../metadata-condition'
import { oversized } from '../metadata-filters'
import { isRecord } from '../record'

const MAX_CONDITIONS = 100

/**
 * Conditions on metadata: a value that a key equals, a list of accepted values, or `{operator: value}` with the operators of
 * `metadata_filters`.
 *
 * @throws Problem invalid_input with all that is wrong
 */
export function whereOf(where: Readonly<Record<string, unknown>>): Filter[] {
  const entries = Object.entries(where)
  const large = oversized(where, [])
  if (large !== null) throw large
  return inspected((wrong) => {
    if (entries.length > MAX_CONDITIONS)
      wrong.refuse('where', where, `where has ${entries.length} keys; at most ${MAX_CONDITIONS} are allowed`)
    const filters = entries.slice(0, MAX_CONDITIONS).flatMap(([key, condition]) => {
      const asked = isRecord(condition)
        ? Object.entries(condition).map(([operator, value]) => ({ key, operator, value }))
        : [{ key, operator: Array.isArray(condition) ? 'in' : 'eq', value: condition }]
      return asked.flatMap((one) => {
        const path = `where.${shortened(key, 100)}`
        const read = wrong.check(path, condition, () => {
          const filter = readMetadataFilter(one)
          if ('filter' in filter) return filter.filter
          const example = { [key]: { gte: 3 } }
          throw invalidInput(`${path}: ${filter.reason}`, [{ path, given: givenAs(condition), example }])
        })
        return read === undefined ? [] : [read]
      })
    })
    return withElementsTogether(filters)
  })
}
