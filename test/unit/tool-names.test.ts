import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseConfig } from '../../src/config'
import { isRecall, RECALLING } from '../../src/services/people/usage'
import { FAMILIES, findTool, listedName, listTools, TOOLS, unknownTools } from '../../src/tools/catalogue'
import { defineTool } from '../../src/tools/define-tool'
import type { Family } from '../../src/tools/family'
import { UNDECLARED } from '../support/tool-examples'

const dotted: Family = { ...FAMILIES.threads, name: 'spoken', dotted: (name) => name.replace('_', '.') }
const tool = defineTool({
  family: dotted,
  name: 'context_store',
  title: 'Store',
  description: 'Stores.',
  ...UNDECLARED,
  input: z.strictObject({}),
  output: z.object({}),
  handler: async () => ({}),
})
const configOf = (env: Record<string, string>) => parseConfig({ AUTH_MODE: 'open', ...env })

describe('names of tools', () => {
  it('are portable and unlike each other, in both spellings', () => {
    const names = TOOLS.flatMap(({ name, dottedName }) => (dottedName === null ? [name] : [name, dottedName]))
    expect(new Set(names).size).toBe(names.length)
    for (const { name } of TOOLS) expect(name).toMatch(/^[a-zA-Z0-9_-]+$/)
  })

  it('[OPERATE-210] of tools that search memories are names of tools', () => {
    const searching = TOOLS.map(({ name }) => name).filter(isRecall)
    expect([...new Set(searching)].sort()).toEqual([...RECALLING].sort())
  })

  it('call the same tool in either spelling', () => {
    expect(findTool([tool], 'context_store')).toBe(tool)
    expect(findTool([tool], 'context.store')).toBe(tool)
    expect(findTool([tool], 'context store')).toBeUndefined()
  })

  it('are listed in the form of TOOL_NAMES, where the family has another spelling', () => {
    expect(listedName(tool, configOf({}))).toBe('context_store')
    expect(listedName(tool, configOf({ TOOL_NAMES: 'dotted' }))).toBe('context.store')
    const [first] = listTools(configOf({}), [FAMILIES.threads])
    expect(listedName(first as typeof tool, configOf({ TOOL_NAMES: 'dotted' }))).toBe('store_context')
  })

  it('of DISABLED_TOOLS that are of no tool are known, in any case and either spelling', () => {
    const named = configOf({ DISABLED_TOOLS: 'Delete_Context, context.store, delete_contex, Nonsense' })
    expect(unknownTools(named)).toEqual(['delete_contex', 'nonsense'])
    expect(unknownTools(configOf({}))).toEqual([])
  })
})
