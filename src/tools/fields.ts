import * as z from 'zod'
import { checkMetadata, checkTags, checkText, checkThreadId } from '../domain/entry/draft'
import { SOURCES } from '../domain/entry/entry'
import { readId } from '../domain/entry/link'
import type { Metadata } from '../domain/entry/metadata'
import { Problem } from '../domain/errors'
import { jsonText } from '../domain/json/write'
import { MAX_OFFSET } from '../domain/search/window'
import { codePointLength } from '../domain/text'
import { shortForm } from '../domain/validation'
import { isRecord } from './record'

/** Characters of an invalid ID that an error repeats. */
const MAX_SHOWN = 200

/** Turns a rule of the domain into a check of a field, so that its problems are reported together with all others. */
export const by =
  <T>(rule: (value: T) => unknown) =>
  (value: T, context: z.core.$RefinementCtx<T>): void => {
    try {
      rule(value)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      context.addIssue({ code: 'custom', message: error.message, params: { problem: error } })
    }
  }

const EITHER = { anyOf: [{ type: 'integer' }, { type: 'string' }] } as const

/** A positive integer or its decimal string. @param listed the type in the listed schema */
export const contextId = (
  description: string,
  listed: typeof EITHER | { readonly type: 'string' | 'integer' } = EITHER,
) =>
  z
    .unknown()
    .refine((value) => readId(value) !== null, {
      error: (issue) =>
        issue.input === undefined
          ? 'Missing required field'
          : `Invalid context ID: ${shortForm(issue.input, MAX_SHOWN)}`,
    })
    .transform((value) => readId(value) as number)
    .meta({ description, ...structuredClone(listed) })

export const contextIds = (description: string) => z.array(contextId('Entry id')).max(100).meta({ description })

export const expectedVersion = z.int().min(1).optional().meta({ description: 'Fail unless at this version' })

/**
 * Any JSON object, unchanged. Records of zod would drop keys such as `__proto__`.
 *
 * The schema lists one member, because Gemini refuses an object without members.
 *
 * @param member a common member name
 */
export const jsonObject = (description: string, member = 'kind') =>
  z
    .custom<Metadata>(isRecord, {
      error: (issue) => `${issue.path?.map(String).join('.') || 'metadata'} must be an object`,
    })
    .meta({ type: 'object', properties: { [member]: { type: 'string' } }, additionalProperties: true, description })

const SOURCE_ERROR = { error: () => 'Missing or invalid source (must be "user" or "agent")' }

export const source = (description: string) => z.enum(SOURCES, SOURCE_ERROR).meta({ description })

export const text = z.string().superRefine(by(checkText)).meta({ description: '≤ 1,000,000 UTF-8 bytes' })

const tag = z.string().meta({ description: 'Tag' })

export const tags = (description: string) => z.array(tag).max(100).meta({ description })

export const threadId = (description: string) => z.string().superRefine(by(checkThreadId)).meta({ description })
export const threadIds = (description: string) => z.array(threadId('Thread')).max(100).meta({ description })

/** Metadata to store. @param name of the argument, for messages */
export const metadata = (description: string, name = 'metadata') =>
  jsonObject(description).superRefine(by((value) => checkMetadata(value, name)))

export const newTags = (description: string) => tags(description).superRefine(by(checkTags))

const image = z
  .strictObject({
    // The decoder checks this member with its own messages, so it is not required here.
    data: z.unknown().optional().meta({ type: 'string', description: 'Base64' }),
    mime_type: z.string().optional(),
    metadata: z
      .custom<string | Metadata>((value) => typeof value === 'string' || isRecord(value), {
        error: 'image metadata must be a string or an object',
      })
      .refine((value) => codePointLength(typeof value === 'string' ? value : jsonText(value)) <= 16_384, {
        error: 'image metadata is larger than 16 KB',
      })
      .optional()
      .meta({
        anyOf: [
          { type: 'string' },
          {
            ...{ type: 'object', properties: { alt: { type: 'string' } }, additionalProperties: true },
            description: 'Kept as given',
          },
        ],
      }),
  })
  .meta({ description: 'PNG, JPEG, GIF or WebP' })

export const images = (description: string) => z.array(image).max(10).meta({ description })

export const limit = (fallback: number) => z.int().min(1).default(fallback).meta({ description: 'Results, 1–100' })

export const offset = z.int().min(0).max(MAX_OFFSET).default(0).meta({ description: 'To skip' })

export const flag = (fallback: boolean, description: string) => z.boolean().default(fallback).meta({ description })

export const explainQuery = flag(false, 'Add stats')
export const includeImages = (fallback: boolean) => flag(fallback, 'Images')

export const listOf = <Item extends z.ZodType>(item: Item, description: string) => z.array(item.meta({ description }))
export const strings = (description: string) => listOf(z.string(), description)

const errorOutput = z.looseObject({}).optional().meta({ description: 'On failure: code, message, retryable, details' })

/** Builds an output schema. It requires no members, because clients also check error results against it. */
export const output = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject({ ...z.looseObject(shape).partial().shape, error: errorOutput })

/** An object in a result; members that the schema does not name are allowed. */
export const part = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.looseObject(shape).meta({ description })
