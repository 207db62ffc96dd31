import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseConfig } from '../../src/config'
import { toolsOf } from '../../src/http/apps'
import { FAMILIES, unknownTools } from '../../src/tools/catalogue'
import { connector } from '../../src/tools/connector/family'
import { review, reviewDecide } from '../../src/tools/core/review'
import { APP_TOOL_NAMES, CORE_TOOLS } from '../../src/tools/core/tools'
import type { Tool } from '../../src/tools/define-tool'
import { defineWritingTool } from '../../src/tools/define-writing-tool'
import type { JsonSchema } from '../../src/tools/json-schema'
import { toolsetOf } from '../../src/tools/toolsets'
import { ALL_TOOLS, UNDECLARED } from '../support/tool-examples'

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']
/** JSON Schema keywords that OpenAI, Gemini, Anthropic and the SDKs support. */
const KEYWORDS = [
  ...['type', 'anyOf', 'enum', 'description', 'default', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minimum', 'maximum', 'minItems', 'maxItems'],
]

const tokens = (value: unknown): number => JSON.stringify(value).length / 4
const inputSide = ({ name, description, inputSchema }: Tool) => ({ name, description, inputSchema })
const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)
const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

/** Everything in a schema that some client does not support. */
function stumbles(schema: unknown, path: string, side: 'input' | 'output'): string[] {
  if (!isSchema(schema)) return [`${path} is not a schema`]
  const problems = Object.keys(schema)
    .filter((key) => !KEYWORDS.includes(key))
    .map((key) => `${path} has ${key}`)
  const { type, anyOf, items, properties, description, minimum, maximum } = schema
  const typed = typeof type === 'string' && TYPES.includes(type)
  if (typed === Array.isArray(anyOf)) problems.push(`${path} has neither one type nor typed branches, or both`)
  const isObject = type === 'object'
  const needsWords = (isObject || path.endsWith('[]')) && path !== ''
  if (needsWords && typeof description !== 'string') problems.push(`${path} is not described`)
  for (const bound of [minimum, maximum])
    if (typeof bound === 'number' && Math.abs(bound) >= Number.MAX_SAFE_INTEGER) problems.push(`${path} is unbounded`)
  if (type === 'array') problems.push(...stumbles(items, `${path}[]`, side))
  if (Array.isArray(anyOf)) problems.push(...anyOf.flatMap((branch, i) => stumbles(branch, `${path}|${i}`, side)))
  if (isSchema(properties))
    for (const [name, member] of Object.entries(properties)) problems.push(...stumbles(member, `${path}.${name}`, side))
  if (side === 'input' && isObject && schema.additionalProperties !== true && !isSchema(properties))
    problems.push(`${path} is an object without members that does not say that it is open`)
  return problems
}

describe('definitions of tools', () => {
  for (const tool of [...ALL_TOOLS, review, reviewDecide])
    it(`of ${tool.family.name}'s ${tool.name} use only what every large client takes, and describe every list and object`, () => {
      const { inputSchema, outputSchema } = tool
      expect(stumbles(inputSchema, '', 'input')).toEqual([])
      expect(stumbles(outputSchema, '', 'output')).toEqual([])
      expect([inputSchema.type, inputSchema.additionalProperties, outputSchema.type]).toEqual([
        'object',
        false,
        'object',
      ])
      expect(outputSchema.required).toBeUndefined()
      for (const argument of Object.values(inputSchema.properties as Record<string, JsonSchema>))
        expect(argument.description).toEqual(expect.any(String))
      expect(tokens(inputSide(tool))).toBeLessThanOrEqual(tool.budget.tokens)
    })

  for (const family of new Set(ALL_TOOLS.map((tool) => tool.family)))
    it(`of ${family.name} stay within ${family.tokens} tokens, output schemas no larger than the input side`, () => {
      const tools = ALL_TOOLS.filter((tool) => tool.family === family)
      const input = sum(tools.map((tool) => tokens(inputSide(tool))))
      const output = sum(tools.map((tool) => tokens(tool.outputSchema)))
      expect(input).toBeLessThanOrEqual(family.tokens)
      // The results of the connector have the form that ChatGPT requires.
      if (family !== connector) expect(output).toBeLessThanOrEqual(input)
    })

  it('of the core are ten, which their own address offers', () => {
    expect(toolsetOf(parseConfig({ AUTH_MODE: 'open' }), 'core')?.tools).toEqual(CORE_TOOLS)
    expect(CORE_TOOLS).toHaveLength(10)
    expect([review, reviewDecide].map(({ name }) => name)).toEqual(APP_TOOL_NAMES)
  })

  it('[CORE-70] of apps can be disabled, and need captured sessions', () => {
    const names = (vars: Record<string, string>) =>
      toolsOf(parseConfig({ AUTH_MODE: 'open', ...vars })).map(({ name }) => name)
    expect(names({})).toEqual(APP_TOOL_NAMES)
    expect(names({ DISABLED_TOOLS: 'review_decide' })).toEqual(['review'])
    expect(names({ CAPTURE_DAYS: '0' })).toEqual([])
    expect(unknownTools(parseConfig({ AUTH_MODE: 'open', DISABLED_TOOLS: 'review,reviews' }))).toEqual(['reviews'])
  })
})

describe('a tool that writes', () => {
  it('cannot be defined without how its facts are read again, and an answer made of them', () => {
    const whole = {
      ...{ family: FAMILIES.threads, name: 'note', title: 'Note', description: 'Notes.', effect: 'store' as const },
      ...{ input: z.strictObject({}), output: z.object({}), ...UNDECLARED },
      work: async () => ({ id: 1 }),
      recall: () => ({ id: 1 }),
      answer: ({ id }: { id: number }) => ({ id }),
    }
    expect(defineWritingTool(whole).role).toBe('writer')
    const { answer: __, ...answerless } = whole
    // @ts-expect-error
    expect(() => defineWritingTool(answerless)).not.toThrow()
    const { recall: ___, ...forgetful } = whole
    // @ts-expect-error
    expect(() => defineWritingTool(forgetful)).not.toThrow()
  })
})
