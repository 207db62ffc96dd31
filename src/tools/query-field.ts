import * as z from 'zod'
import { codePointLength, trim } from '../domain/text'

/** Maximum code points of a query (platform contract §6). */
export const MAX_QUERY = 10_000

/** The query of every search. */
export const queryField = z
  .string()
  .refine((query) => trim(query) !== '', { error: 'query cannot be empty or whitespace' })
  .refine((query) => codePointLength(query) <= MAX_QUERY, {
    error: `query has more than ${MAX_QUERY} characters`,
  })
  .meta({ description: '≤ 10,000 characters' })
