import { z } from 'zod'

export type JsonSchema = { readonly [key: string]: unknown }

/** The schema as clients see it: plain JSON Schema without the dialect line, which costs every client tokens. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
