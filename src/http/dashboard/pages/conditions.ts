import { takesList, takesNoValue } from '../../../tools/metadata-condition'
import type { Visit } from '../visit'

/** Parses the conditions on metadata of a search form into filters. */

export interface Condition {
  readonly key: string
  readonly operator: string
  readonly value: string
}

/** Parameter names that the guard does not mistake for a key in the address. */
export function conditionsOf({ url: { searchParams } }: Visit): Condition[] {
  const [keys, operators, values] = ['field', 'op', 'value'].map((name) => searchParams.getAll(name))
  return (keys ?? [])
    .map((key, i) => ({ key: key.trim(), operator: operators?.[i] ?? 'eq', value: values?.[i] ?? '' }))
    .filter(({ key }) => key !== '')
}

/** Parses a typed value: a number or a boolean where it looks like one; between quotes always text. */
function scalarOf(text: string): string | number | boolean {
  const quoted = /^"(.*)"$/s.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text) ? Number(text) : text
}

export const toFilter = ({ key, operator, value }: Condition) => ({
  key,
  operator,
  ...(takesNoValue(operator)
    ? {}
    : { value: takesList(operator) ? value.split(',').map((one) => scalarOf(one.trim())) : scalarOf(value) }),
})
