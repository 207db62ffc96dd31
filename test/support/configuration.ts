import { type Config, parseConfig } from '../../src/config'
import { type Environment, type IndexedFieldConfig, type ModelChoice, Reader } from '../../src/config-reader'
import type { Levels } from '../../src/domain/recall/similarity'
import type { Variable } from '../../src/variables.mjs'

/** A variable as src/config.ts reads it. */
export interface Asked {
  /** Its default; empty for none. */
  readonly fallback: string
  /** Its values, as text. */
  readonly takes: string
}

/** Reads like the Worker and records each read; of nested reads only the outermost. */
class NotingReader extends Reader {
  readonly asked = new Map<Variable, Asked>()

  #note(name: Variable, fallback: unknown, takes: string): void {
    if (!this.asked.has(name)) this.asked.set(name, { fallback: String(fallback), takes })
  }

  override text(name: Variable): string | undefined {
    this.#note(name, '', 'text')
    return super.text(name)
  }
  override choice<T extends string>(name: Variable, fallback: T, values: readonly T[]): T {
    this.#note(name, fallback, values.map((value) => `\`${value}\``).join(', '))
    return super.choice(name, fallback, values)
  }
  override boolean(name: Variable, fallback: boolean): boolean {
    this.#note(name, fallback, '`true`, `false`')
    return super.boolean(name, fallback)
  }
  override integer(name: Variable, fallback: number, min: number, max: number): number {
    this.#note(name, fallback, max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min}–${max}`)
    return super.integer(name, fallback, min, max)
  }
  override secret(name: Variable, minLength: number): string | null {
    this.#note(name, '', `a secret of ${minLength} characters or more`)
    return super.secret(name, minLength)
  }
  override levels(name: Variable): Levels | null {
    this.#note(name, '', 'two cosines, optionally the level of doubt: `0,0.6,0.63`')
    return super.levels(name)
  }
  override list(name: Variable, fallback: string): string[] {
    this.#note(name, fallback, 'a list with commas')
    return super.list(name, fallback)
  }
  override origins(name: Variable): void {
    this.#note(name, '', 'origins, with commas')
    super.origins(name)
  }

  override hosts(name: Variable): void {
    this.#note(name, '', 'hosts, with commas')
    super.hosts(name)
  }
  override schema(name: Variable, fallback: string): string {
    this.#note(name, fallback, 'the name of a schema')
    return super.schema(name, fallback)
  }
  override url(name: Variable, fallback: string): string {
    this.#note(name, fallback, 'a URL')
    return super.url(name, fallback)
  }
  override provider(name: Variable): string | null {
    this.#note(name, '', 'an https URL')
    return super.provider(name)
  }
  override model<Provider extends string>(
    prefix: 'SUMMARY' | 'RERANKING',
    enabled: boolean,
    providers: readonly Provider[],
    models: Readonly<Record<Provider, string>>,
  ): ModelChoice<Provider> | null {
    const known = providers.flatMap((one) => (models[one] === '' ? [] : [`\`${models[one]}\` (\`${one}\`)`]))
    const unnamed = providers.flatMap((one) => (models[one] === '' ? [`\`${one}\``] : []))
    this.#note(
      `${prefix}_MODEL`,
      '',
      `a model; by default ${known.join(', ')}; with ${unnamed.join(', ')} it must be set`,
    )
    return super.model(prefix, enabled, providers, models)
  }
  override fields(name: Variable, fallback: string): IndexedFieldConfig[] {
    this.#note(name, fallback, '`name` or `name:type`, with commas')
    return super.fields(name, fallback)
  }
}

/** All reads of an empty environment. */
export function askedOf(env: Environment = {}): {
  readonly asked: ReadonlyMap<Variable, Asked>
  readonly config: Config
} {
  const reader = new NotingReader(env)
  const config = parseConfig(env, reader)
  return { asked: reader.asked, config }
}
