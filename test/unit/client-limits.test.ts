import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config'
import { listedName, TOOLS } from '../../src/tools/catalogue'
import { review, reviewDecide } from '../../src/tools/core/review'
import { CORE_TOOLS } from '../../src/tools/core/tools'
import type { Tool } from '../../src/tools/define-tool'
import type { JsonSchema } from '../../src/tools/json-schema'
import { toolsetOf } from '../../src/tools/toolsets'

/**
 * Limits for tools that clients and their models publish, each with its source. A client rejects a definition that
 * breaks its limits.
 */
const config = parseConfig({ AUTH_MODE: 'open' })
const ADDRESSES = [undefined, 'core', 'connector', 'threads', 'fabric', 'packs', 'history']
const EVERY: readonly Tool[] = [
  ...[...TOOLS, ...CORE_TOOLS, ...(toolsetOf(config, 'connector')?.tools ?? [])],
  ...[review, reviewDecide],
]

/** Every schema within a schema, with its path. */
function* within(schema: JsonSchema, path = ''): Generator<readonly [string, JsonSchema]> {
  yield [path, schema]
  const { properties = {}, items, anyOf = [] } = schema as Record<string, never>
  for (const [name, one] of Object.entries<JsonSchema>(properties)) yield* within(one, `${path}.${name}`)
  if (items !== undefined) yield* within(items as JsonSchema, `${path}[]`)
  for (const [i, one] of (anyOf as JsonSchema[]).entries()) yield* within(one, `${path}|${i}`)
}

/** Paths of the input schemas that fail a check. */
const failing = (isRight: (schema: JsonSchema, path: string) => boolean): string[] =>
  EVERY.flatMap(({ family, name, inputSchema }) =>
    [...within(inputSchema)].flatMap(([path, one]) => (isRight(one, path) ? [] : [`${family.name} ${name}${path}`])),
  )

/** Levels of objects and lists. */
const depthOf = (schema: JsonSchema): number => {
  const { properties = {}, items, anyOf = [] } = schema as Record<string, never>
  const inner = [
    ...Object.values<JsonSchema>(properties),
    ...(items ? [items as JsonSchema] : []),
    ...(anyOf as JsonSchema[]),
  ]
  return (schema.type === 'object' || schema.type === 'array' ? 1 : 0) + Math.max(0, ...inner.map(depthOf))
}

describe('Gemini (ai.google.dev/api/caching#Schema)', () => {
  // "should be non-empty for OBJECT type": MarkusPfundstein/mcp-obsidian#21, containers/kubernetes-mcp-server#340.
  it('needs at least one property in every object within an input', () => {
    expect(
      failing(
        ({ type, properties }, path) => path === '' || type !== 'object' || Object.keys(properties ?? {}).length > 0,
      ),
    ).toEqual([])
  })

  // anomalyco/opencode#11889: "only allowed for OBJECT type".
  it('accepts properties and required of objects only', () => {
    expect(
      failing(({ type, properties, required }) => type === 'object' || (properties ?? required) === undefined),
    ).toEqual([])
  })

  // Kilo-Org/kilocode#11955.
  it('requires only names of properties', () => {
    const isListed = ({ properties = {}, required = [] }: JsonSchema) =>
      (required as string[]).every((name) => Object.hasOwn(properties as object, name))
    expect(failing(isListed)).toEqual([])
  })

  it('accepts enums of strings only, and items for every list', () => {
    expect(
      failing(
        ({ enum: values }) =>
          values === undefined || (values as unknown[]).every((one) => typeof one === 'string' && one !== ''),
      ),
    ).toEqual([])
    expect(failing(({ type, items }) => type !== 'array' || items !== undefined)).toEqual([])
  })

  it('accepts one type as a string, and no reference, pattern, format or combination but anyOf', () => {
    const refused = [
      '$ref',
      '$defs',
      'oneOf',
      'allOf',
      'not',
      'if',
      'patternProperties',
      'pattern',
      'format',
      'const',
      'propertyNames',
    ]
    expect(failing((schema) => refused.every((keyword) => !Object.hasOwn(schema, keyword)))).toEqual([])
    expect(failing(({ type, anyOf }) => (typeof type === 'string') !== Array.isArray(anyOf))).toEqual([])
  })

  it('accepts names of 64 letters, digits, _ and -, which begin with a letter or _', () => {
    for (const tool of EVERY) expect(listedName(tool, config)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  })
})

describe('OpenAI (platform.openai.com/docs/guides/function-calling, structured-outputs "Supported schemas")', () => {
  it('accepts 128 tools in a request', () => {
    for (const address of ADDRESSES) expect(toolsetOf(config, address)?.tools.length).toBeLessThanOrEqual(128)
  })

  it('accepts names of 64 characters and descriptions of 1,024', () => {
    for (const { name, description } of EVERY) {
      expect(name.length).toBeLessThanOrEqual(64)
      expect([name, description.length <= 1024]).toEqual([name, true])
    }
  })

  it('accepts objects at the root, without anyOf there, 10 levels, 5,000 properties and 1,000 values of enums', () => {
    for (const { name, inputSchema } of EVERY) {
      const all = [...within(inputSchema)].map(([, one]) => one)
      const count = (member: string) =>
        all.reduce((sum, one) => sum + Object.keys((one[member] as object | undefined) ?? {}).length, 0)
      expect([name, inputSchema.type, inputSchema.anyOf]).toEqual([name, 'object', undefined])
      expect([name, depthOf(inputSchema) <= 10, count('properties') <= 5000, count('enum') <= 1000]).toEqual([
        name,
        true,
        true,
        true,
      ])
    }
  })
})

describe('Claude (platform.claude.com/docs/en/agents-and-tools/tool-use, code.claude.com/docs/en/mcp)', () => {
  it('accepts names of 128 characters together with mcp__commonplace__, and property names of 64 safe characters', () => {
    for (const tool of EVERY) expect(`mcp__commonplace__${listedName(tool, config)}`).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
    const isSafe = ({ properties = {} }: JsonSchema) =>
      Object.keys(properties as object).every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name))
    expect(failing(isSafe)).toEqual([])
  })

  it('shows descriptions and instructions of 2 KB', () => {
    for (const { name, description } of EVERY) expect([name, description.length <= 2048]).toEqual([name, true])
    for (const address of ADDRESSES)
      for (const { family } of toolsetOf(config, address)?.tools ?? [])
        expect((family.instructions ?? '').length).toBeLessThanOrEqual(2048)
  })
})

describe('VS Code (code.visualstudio.com/docs/copilot/chat/mcp-servers) and Cursor (cursor.com/docs/context/mcp)', () => {
  it('accepts 128 tools in a request of VS Code and 40 of all servers in Cursor', () => {
    for (const address of ADDRESSES) expect(toolsetOf(config, address)?.tools.length).toBeLessThanOrEqual(40)
  })

  it('accepts 60 characters of the names of server and tool together in Cursor', () => {
    for (const tool of EVERY) expect(`commonplace:${listedName(tool, config)}`.length).toBeLessThanOrEqual(60)
  })
})

describe('Python (docs.python.org/3/reference/lexical_analysis.html#keywords)', () => {
  const KEYWORDS = [
    ...[
      'False',
      'None',
      'True',
      'and',
      'as',
      'assert',
      'async',
      'await',
      'break',
      'class',
      'continue',
      'def',
      'del',
      'elif',
      'else',
    ],
    ...[
      'except',
      'finally',
      'for',
      'from',
      'global',
      'if',
      'import',
      'in',
      'is',
      'lambda',
      'nonlocal',
      'not',
      'or',
      'pass',
      'raise',
    ],
    ...['return', 'try', 'while', 'with', 'yield'],
  ]
  it('has another name for every argument that is one of its keywords', () => {
    for (const { name, inputSchema } of EVERY) {
      const properties = Object.keys(inputSchema.properties as object)
      const reserved = properties.filter((one) => KEYWORDS.includes(one))
      expect([name, reserved.filter((one) => !properties.includes(`${one}_ids`))]).toEqual([name, []])
    }
  })
})
