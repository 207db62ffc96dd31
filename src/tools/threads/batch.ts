import * as z from 'zod'
import { Problem } from '../../domain/errors'
import { scheduler } from '../../domain/scheduler'
import { issuesOf } from '../../domain/validation'
import { attempt, type Outcome } from '../../services/outcome'
import { GenerationFailed } from '../../services/writing/entries/generate'
import type { ToolContext } from '../context'
import { withExamples } from '../examples'
import { output, part } from '../fields'
import { inspectImages } from '../images'
import { type JsonSchema, toJsonSchema } from '../json-schema'
import { parseArguments } from '../parse-arguments'
import { charactersOf, isRecord } from '../record'
import { bracket, later, type Written } from './entry-serializer'

/** A list of 1 to 100 items that are checked individually later. */
export const looseItems = z.array(z.unknown()).min(1).max(100)

/** Parses each item with the schema of the single tool; an invalid item becomes a failed outcome. Yields to the scheduler. */
export async function readItems<Schema extends z.ZodType, T>(
  items: readonly unknown[],
  schema: Schema,
  read: (item: z.output<Schema>) => T,
  context: ToolContext,
): Promise<Outcome<T>[]> {
  const shown: JsonSchema = toJsonSchema(schema, 'input')
  const inspect = (args: Record<string, unknown>) => inspectImages(args, context)
  const outcomes: Outcome<T>[] = []
  for (const item of items) {
    outcomes.push(await attempt(() => read(parseArguments(schema, shown, item, { inspect }))))
    await scheduler.tick(charactersOf(item))
  }
  return outcomes
}

const PLURALS: Readonly<Record<string, string>> = { embedding: 'embeddings', summary: 'summaries' }

/** Returns the suffix of a batch message, such as " (embeddings generated)". */
function happened(outcomes: readonly Outcome<{ readonly made: readonly string[] } | null>[]): string {
  const all = outcomes.flatMap((outcome) => (outcome.ok ? (outcome.value?.made ?? []) : []))
  const parts = [...new Set(all)].map((part) => part.replace(/^\w+/, (word) => PLURALS[word] ?? word))
  return bracket(parts.sort())
}

/** Builds the result of a batch. */
export function batchResult(
  verb: 'Stored' | 'Updated',
  outcomes: readonly Outcome<Written | null>[],
  results: readonly { readonly success: boolean }[],
): Record<string, unknown> {
  const total = results.length
  const succeeded = results.filter(({ success }) => success).length
  const message = `${verb} ${succeeded}/${total} entries successfully${happened(outcomes)}`
  return {
    success: succeeded === total,
    total,
    succeeded,
    failed: total - succeeded,
    results,
    message: succeeded === 0 ? 'All entries failed validation' : message,
    ...later(outcomes.flatMap((outcome) => (outcome.ok && outcome.value !== null ? [outcome.value] : []))),
  }
}

/** Output schema of both batch tools. */
export const batchOutput = (more: z.ZodRawShape = {}) =>
  output({
    success: z.boolean(),
    total: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    results: z.array(
      part('Item', {
        index: z.int(),
        success: z.boolean(),
        context_id: z.int().nullable(),
        error: z.string().nullable(),
        code: z.string().nullable(),
        ...more,
      }),
    ),
    message: z.string(),
  })

/** Shortens a schema that the single tool explains: only types, and descriptions of lists and objects. */
function terse(schema: JsonSchema, single: string): JsonSchema {
  const { description, ...rest } = schema
  const asThere = 'As there'
  if (rest.type === 'object') {
    const [member = 'kind'] = Object.keys((rest.properties ?? {}) as JsonSchema)
    const properties = { [member]: { type: 'string' } }
    return { type: 'object', properties, additionalProperties: true, description: asThere }
  }
  if (!isRecord(rest.items)) return rest
  const items = rest.items.type === 'object' ? terse(rest.items, single) : { ...rest.items, description: asThere }
  return { ...rest, items }
}

/** Builds the input schema of a batch tool: items with the arguments of the single tool. */
export function listedBatch(name: string, item: z.ZodType, single: string, atomic: string): JsonSchema {
  const { properties, required } = toJsonSchema(item, 'input')
  const members = Object.entries(properties as Record<string, JsonSchema>).map(([key, member]) => [
    key,
    terse(member, single),
  ])
  const items = { type: 'object', description: `One ${single}`, properties: Object.fromEntries(members), required }
  return {
    type: 'object',
    properties: {
      [name]: { type: 'array', minItems: 1, maxItems: 100, description: 'In order', items },
      atomic: { type: 'boolean', default: true, description: atomic },
    },
    required: [name],
    additionalProperties: false,
  }
}

/** Returns the issues of an item, with paths that start at the arguments of the call. */
const issuesAt = (list: string, index: number, problem: Problem) =>
  issuesOf(problem).map((issue) => ({
    ...issue,
    path: `${list}[${index}]${issue.path === '' ? '' : `.${issue.path}`}`,
  }))

const itemFailure = (list: 'entries' | 'updates', index: number, id: number | null, { message, code }: Problem) => ({
  index,
  success: false,
  context_id: id,
  ...(list === 'updates' ? { updated_fields: null } : {}),
  error: message,
  code,
})

/** Builds the row of `results` for a failed item. @param list name of the argument that contains the items */
export function failedItem(list: 'entries' | 'updates', index: number, id: number | null, problem: Problem) {
  const issues = withExamples(issuesAt(list, index, problem))
  const details = issues.length === 0 ? problem.details : issues
  return { ...itemFailure(list, index, id, problem), ...(details === undefined ? {} : { details }) }
}

/**
 * Builds the error of an atomic batch; null if all items are valid.
 *
 * @param list name of the argument that contains the items
 * @param place returns the position of an item for the message
 */
export function atomicFailure(
  list: 'entries' | 'updates',
  outcomes: readonly Outcome<unknown>[],
  place: (index: number) => string,
  id: (index: number) => number | null,
): Problem | null {
  const failed = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ index, problem: outcome.problem }]))
  const [first] = failed
  if (first === undefined) return null
  const { problem } = first
  // The details of the error list the issues once.
  const beside = { results: failed.map(({ index, problem }) => itemFailure(list, index, id(index), problem)) }
  if (problem instanceof GenerationFailed)
    return new Problem(
      problem.code,
      `Generation failed at index ${first.index}: ${problem.reason}`,
      { beside },
      problem.cause,
    )
  const issues = failed.flatMap(({ index, problem }) => issuesAt(list, index, problem))
  const details = problem.code === 'conflict' ? (problem.details ?? issues) : issues
  return new Problem(
    problem.code,
    `Validation failed for ${failed.length} entries. First error ${place(first.index)}: ${problem.message}`,
    {
      // An unknown ID is not a validation issue.
      ...(details === issues && issues.length === 0 ? {} : { details }),
      retryable: problem.retryable,
      beside,
    },
  )
}
