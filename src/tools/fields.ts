import { z } from 'zod'
import { SOURCES } from '../domain/entry'
import { readId } from '../domain/link'
import type { Metadata } from '../domain/metadata'
import { codePointLength } from '../domain/text'
import { MAX_OFFSET } from '../domain/window'
import { isRecord } from './lenient'

/** Each field of the wire that more than one tool speaks: one named, described schema. */

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A positive integer or its decimal string. */
export const contextId = (description: string) =>
  z
    .unknown()
    .refine((value) => readId(value) !== null, {
      error: (issue) =>
        issue.input === undefined ? 'Missing required field' : `Invalid context ID: ${shown(issue.input)}`,
    })
    .transform((value) => readId(value) as number)
    .meta({
      description,
      anyOf: [
        { type: 'integer', minimum: 1 },
        { type: 'string', pattern: '^[1-9][0-9]*$' },
      ],
    })

export const contextIds = (description: string) =>
  z.array(contextId('An entry id: an integer or its decimal string')).max(100).meta({ description })

/** Any JSON object, kept as given; zod's own records would drop keys such as `__proto__`. */
export const jsonObject = (description: string) =>
  z
    .custom<Metadata>(isRecord, {
      error: (issue) => `${issue.path?.map(String).join('.') || 'metadata'} must be an object`,
    })
    .meta({ type: 'object', additionalProperties: true, description })

export const threadId = z.string().meta({
  description: 'Names the conversation or task; up to 256 characters, case-sensitive',
  minLength: 1,
  maxLength: 256,
})

export const source = z
  .enum(SOURCES, { error: () => 'Missing or invalid source (must be "user" or "agent")' })
  .meta({ description: 'Who speaks: "user" or "agent"' })

export const text = z.string().meta({
  description: 'The memory itself; up to 1,000,000 UTF-8 bytes',
  minLength: 1,
})

export const tags = (description: string) => z.array(z.string()).max(100).meta({ description })

export const metadata = jsonObject(
  'Any JSON object, up to 256 KB. Useful keys: title, status, project, agent_name, report_type, references.context_ids, supersedes, depends_on',
)

export const image = z
  .strictObject({
    // Checked with its own messages when the image is decoded, hence not required here.
    data: z.unknown().optional().meta({ type: 'string', description: 'Base64 of a PNG, JPEG, GIF or WebP image' }),
    mime_type: z.string().optional().meta({ description: 'Corrected when it disagrees with the bytes' }),
    metadata: z
      .custom<string | Metadata>((value) => typeof value === 'string' || isRecord(value), {
        error: 'image metadata must be a string or an object',
      })
      .refine((value) => codePointLength(typeof value === 'string' ? value : JSON.stringify(value)) <= 16_384, {
        error: 'image metadata is larger than 16 KB',
      })
      .optional()
      .meta({
        description: 'A string or an object, up to 16 KB, returned as given',
        anyOf: [{ type: 'string' }, { type: 'object' }],
      }),
  })
  .meta({ description: 'One image' })

export const images = (description: string) => z.array(image).max(10).meta({ description })

export const limit = (fallback: number) =>
  z.int().min(1).default(fallback).meta({ description: 'Results on this page, 1–100; more is applied as 100' })

export const offset = z.int().min(0).max(MAX_OFFSET).default(0).meta({ description: 'Results to pass over' })

export const flag = (fallback: boolean, description: string) => z.boolean().default(fallback).meta({ description })

/** Output schemas require nothing, because clients check error results against them too. */
export const errorOutput = z
  .looseObject({
    code: z.string().meta({ description: 'One of a closed set, such as invalid_input or not_found' }),
    message: z.string(),
    retryable: z.boolean().meta({ description: 'The same call may succeed later' }),
  })
  .optional()

export const output = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject({ ...z.looseObject(shape).partial().shape, error: errorOutput })
