import type { Setup } from './client-setup'

const tomlValue = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(tomlValue).join(', ')}]` : JSON.stringify(value)

/** The entry as a table of TOML, and tables below it. */
export function tomlOf({ path, entry }: Pick<Setup, 'path' | 'entry'>): string {
  const isTable = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const own = Object.entries(entry).filter(([, value]) => !isTable(value))
  const tables = Object.entries(entry).filter(([, value]) => isTable(value))
  return [
    `[${path.join('.')}]`,
    ...own.map(([name, value]) => `${name} = ${tomlValue(value)}`),
    ...tables.flatMap(([name, value]) => [
      '',
      tomlOf({ path: [...path, name], entry: value as Record<string, unknown> }).trimEnd(),
    ]),
    '',
  ].join('\n')
}

/** A text that parses: JSON with its outer key, or TOML. */
export function snippetOf(setup: Setup): string {
  if (setup.format === 'toml') return tomlOf(setup)
  const whole = setup.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), setup.entry)
  return JSON.stringify(whole, null, 2)
}
