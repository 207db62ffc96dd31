import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseConfig, VARIABLES } from '../../src/config'
import { ROOT } from '../support/build'

/** docs/configuration.md is held to what src/config.ts reads. */
interface DocumentedVariable {
  readonly name: string
  /** As the page says it; null where it says that there is none, or more than one. */
  readonly value: string | null
}

const rows = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))

const documented: DocumentedVariable[] = rows.flatMap(([, names = '', defaults = '']) => {
  const list = [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name as string)
  const values = [...defaults.matchAll(/`([^`]*)`|\b(\d+)\b|\bnone\b/g)].map(([, quoted, number]) => quoted ?? number)
  // What depends on another variable is said in words.
  const isPlain = values.length === list.length && /^(`[^`]*`|\d+|none|built in|of the model|, )+$/.test(defaults)
  return list.map((name, i) => ({ name, value: isPlain ? (values[i] ?? null) : null }))
})

it('names every variable that is read in docs/configuration.md, and no other', () => {
  expect(documented.map(({ name }) => name).sort()).toEqual([...VARIABLES].sort())
})

it('says there what each variable is when nobody sets it', () => {
  const told = documented.filter(({ name, value }) => value !== null && name !== 'AUTH_MODE')
  expect(told.length).toBeGreaterThan(25)
  const unset = parseConfig({})
  for (const { name, value } of told) expect([name, parseConfig({ [name]: value ?? '' })]).toEqual([name, unset])
})
