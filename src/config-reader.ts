import type { Levels } from './domain/recall/similarity'
import { readHost, readOrigin } from './http/access'
import type { Variable } from './variables.mjs'

export interface IndexedFieldConfig {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'float' | 'array' | 'object'
}

export interface ModelChoice<Provider extends string = string> {
  readonly provider: Provider
  readonly model: string
}

/** Environment variables by name, unparsed. */
export type Environment = Readonly<Record<string, unknown>>

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

/** Parses environment variables, and collects all problems. */
export class Reader {
  readonly problems: string[] = []

  constructor(private readonly env: Environment) {}

  text(name: Variable): string | undefined {
    const value = this.env[name]
    if (value === undefined || value === null) return undefined
    return typeof value === 'string' ? value.trim() : String(value)
  }

  choice<T extends string>(name: Variable, fallback: T, values: readonly T[]): T {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const found = values.find((known) => known.toLowerCase() === value.toLowerCase())
    if (found === undefined) this.problems.push(`${name} is "${value}", but must be one of ${values.join(', ')}`)
    return found ?? fallback
  }

  boolean(name: Variable, fallback: boolean): boolean {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const found = BOOLEANS[value.toLowerCase()]
    if (found === undefined) this.problems.push(`${name} is "${value}", but must be true or false`)
    return found ?? fallback
  }

  integer(name: Variable, fallback: number, min: number, max: number): number {
    const value = this.text(name)
    if (value === undefined || value === '') return fallback
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.problems.push(`${name} is "${value}", but must be a whole number from ${min} to ${max}`)
    return fallback
  }

  /** A secret, whose value never appears in messages. */
  secret(name: Variable, minLength: number): string | null {
    const value = this.text(name)
    if (value === undefined || value === '') return null
    if (value.length < minLength || !/^[\x21-\x7e]+$/.test(value) || value.startsWith('cp_'))
      this.problems.push(
        `${name} must have at least ${minLength} characters, ASCII without spaces, and not begin with "cp_"; create one ` +
          'with: openssl rand -base64 32',
      )
    return value
  }

  /** The reference cosines: of unrelated texts, of a question and its answer, and optionally the level of doubt. */
  levels(name: Variable): Levels | null {
    const value = this.text(name)
    if (value === undefined || value === '') return null
    const [nothing = Number.NaN, answer = Number.NaN, doubt, ...more] = value
      .split(',')
      .map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
    const isLevel = doubt === undefined || (doubt >= -1 && doubt <= 1.5)
    if (more.length === 0 && nothing >= -1 && nothing < answer && answer <= 1 && isLevel)
      return { nothing, answer, ...(doubt === undefined ? {} : { doubt }) }
    this.problems.push(
      `${name} is "${value}", but must be two cosines, the smaller first, and optionally the level of doubt, such as 0,0.6 or 0,0.6,0.63`,
    )
    return null
  }

  list(name: Variable, fallback: string): string[] {
    return (this.text(name) ?? fallback)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }

  /** Host names, validated here and used in `access.ts`. */
  hosts(name: Variable): void {
    for (const item of this.list(name, ''))
      if (readHost(item) === null)
        this.problems.push(
          `${name} contains "${item}", but must be a list of host names, with a port if needed, such as memory.example.com`,
        )
  }

  /** Origins of pages, validated here and used in `access.ts`. */
  origins(name: Variable): void {
    for (const item of this.list(name, ''))
      if (readOrigin(item) === null)
        this.problems.push(
          `${name} contains "${item}", but must be a list of https origins without a path, such as https://app.example.com (http only for localhost)`,
        )
  }

  schema(name: Variable, fallback: string): string {
    const value = this.text(name) || fallback
    if (/^[a-z_][a-z0-9_]{0,62}$/.test(value) && !value.startsWith('pg_')) return value
    this.problems.push(`${name} must have at most 63 characters of a-z, 0-9 and _, and not begin with a digit or pg_`)
    return fallback
  }

  url(name: Variable, fallback: string): string {
    const value = this.text(name) || fallback
    if (/^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)) return value.replace(/\/+$/, '')
    this.problems.push(`${name} is not an http or https URL`)
    return fallback
  }

  /** The address of an identity provider; null when it is not set. A name without a scheme means https. */
  provider(name: Variable): string | null {
    const value = this.text(name)
    if (value === undefined || value === '') return null
    const url = value.includes('://') ? value : `https://${value}`
    const local = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?(\/|$)/
    if (URL.canParse(url) && !/[\s?#@]/.test(url) && (url.startsWith('https://') || local.test(url))) return url
    this.problems.push(`${name} is not an https URL`)
    return null
  }

  /** A provider with its model; null for `none`, the default. */
  model<Provider extends string>(
    prefix: 'SUMMARY' | 'RERANKING',
    enabled: boolean,
    providers: readonly Provider[],
    models: Readonly<Record<Provider, string>>,
  ): ModelChoice<Provider> | null {
    const name = `${prefix}_PROVIDER` as const
    const provider = this.choice(name, 'none', ['none', ...providers])
    if (provider === 'none' || !enabled) return null
    const model = this.text(`${prefix}_MODEL`) || models[provider]
    if (model === '') this.problems.push(`${prefix}_MODEL is required, because ${name} is ${provider}`)
    return { provider, model }
  }

  fields(name: Variable, fallback: string): IndexedFieldConfig[] {
    const items = this.list(name, fallback)
    const names = items.map((item) => item.replace(/:.*/, ''))
    const twice = names.find((field, i) => names.indexOf(field) !== i)
    if (twice !== undefined) this.problems.push(`${name} contains "${twice}" twice`)
    return items.flatMap((item) => {
      const match = FIELD.exec(item)
      if (match) return [{ name: match[1] as string, type: (match[2] ?? 'string') as IndexedFieldConfig['type'] }]
      this.problems.push(
        `${name} contains "${item}", but must have the form name or name:type, with one of the types string, integer, boolean, float, array, object`,
      )
      return []
    })
  }
}
