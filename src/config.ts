import { Problem } from './domain/errors'
import { MEGABYTE } from './domain/image'

/** Configuration: environment variables, parsed once into a value that cannot express nonsense (threads contract §11). */
export interface IndexedFieldConfig {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'float' | 'array' | 'object'
}

export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly authMode: 'open' | 'required'
  readonly logLevel: LogLevel
  /** Null: the built-in text; empty: none. */
  readonly instructions: string | null
  readonly disabledTools: ReadonlySet<string>
  readonly toolNames: 'portable' | 'dotted'
  readonly imageLimits: { readonly each: number; readonly total: number }
  readonly truncationLength: number
  readonly indexedFields: readonly IndexedFieldConfig[]
  readonly fts: { readonly enabled: boolean; readonly language: string }
}

export type Environment = Readonly<Record<string, unknown>>

const DEFAULT_INDEXED = 'status, agent_name, task_name, project, report_type, references:object, technologies:array'

/** The configurations that PostgreSQL ships, which name the languages on every backend. */
export const FTS_LANGUAGES = [
  'simple',
  ...['arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'finnish', 'french', 'german'],
  ...['greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian'],
  ...['portuguese', 'romanian', 'russian', 'serbian', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish'],
] as const

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
}

const FIELD = /^([A-Za-z0-9_-]+)(?::(string|integer|boolean|float|array|object))?$/

class Reader {
  readonly problems: string[] = []

  constructor(private readonly env: Environment) {}

  text(name: string): string | undefined {
    const value = this.env[name]
    if (value === undefined || value === null) return undefined
    return typeof value === 'string' ? value.trim() : String(value)
  }

  choice<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const found = values.find((known) => known.toLowerCase() === value.toLowerCase())
    if (found === undefined) this.problems.push(`${name} is "${value}"; it must be one of ${values.join(', ')}`)
    return found ?? fallback
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const found = BOOLEANS[value.toLowerCase()]
    if (found === undefined) this.problems.push(`${name} is "${value}"; it must be true or false`)
    return found ?? fallback
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.problems.push(`${name} is "${value}"; it must be a whole number from ${min} to ${max}`)
    return fallback
  }

  list(name: string, fallback: string): string[] {
    return (this.text(name) ?? fallback)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }

  fields(name: string, fallback: string): IndexedFieldConfig[] {
    return this.list(name, fallback).flatMap((item) => {
      const match = FIELD.exec(item)
      if (match) return [{ name: match[1] as string, type: (match[2] ?? 'string') as IndexedFieldConfig['type'] }]
      this.problems.push(
        `${name} holds "${item}"; write name or name:type with one of string, integer, boolean, float, array, object`,
      )
      return []
    })
  }
}

/** @throws Problem internal that lists every bad value, so that one reading is enough to mend them all */
export function parseConfig(env: Environment): Config {
  const reader = new Reader(env)
  reader.choice('STORAGE_BACKEND', 'sqlite', ['sqlite', 'd1'])
  const config: Config = {
    authMode: reader.choice('AUTH_MODE', 'required', ['open', 'required']),
    logLevel: reader.choice('LOG_LEVEL', 'INFO', LOG_LEVELS),
    instructions: reader.text('MCP_SERVER_INSTRUCTIONS') ?? null,
    disabledTools: new Set(reader.list('DISABLED_TOOLS', '').map((name) => name.toLowerCase())),
    toolNames: reader.choice('TOOL_NAMES', 'portable', ['portable', 'dotted']),
    imageLimits: {
      each: reader.integer('MAX_IMAGE_SIZE_MB', 10, 1, 10) * MEGABYTE,
      total: reader.integer('MAX_TOTAL_SIZE_MB', 100, 1, 100) * MEGABYTE,
    },
    truncationLength: reader.integer('SEARCH_TRUNCATION_LENGTH', 300, 50, 1000),
    indexedFields: reader.fields('METADATA_INDEXED_FIELDS', DEFAULT_INDEXED),
    fts: {
      enabled: reader.boolean('ENABLE_FTS', true),
      language: reader.choice('FTS_LANGUAGE', 'english', FTS_LANGUAGES),
    },
  }
  if (reader.problems.length > 0)
    throw new Problem('unavailable', `The server is not configured correctly: ${reader.problems.join('; ')}`)
  return Object.freeze(config)
}
