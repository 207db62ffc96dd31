// What does a call that remembers find out, as its receipt keeps it?
import * as z from 'zod'
import type { Trace } from '../../domain/receipts/receipt'
import { rememberedAs, type StoredMemory } from '../../services/pack/remember'
import { onlyOne, storedBefore } from '../facts'
import { earlierMemory } from '../may-replace'

const noted = z.object({
  kind: z.string(),
  project: z.string().nullable(),
  links: z.array(z.object({ relation: z.string(), to: z.int() })),
  conflicts: z.array(z.object({ id: z.int(), title: z.string(), reason: z.string() })),
  // Receipts of an earlier release do not have it.
  furtherConflicts: z.int().default(0),
  mayReplace: z.array(earlierMemory).default([]),
})
const planned = noted.extend({
  equal: z
    .object({ id: z.int(), warnings: z.array(z.string()) })
    .nullable()
    .default(null),
})

export const rememberedFacts: z.ZodType<StoredMemory> = noted.extend({
  ...{ id: z.int(), existing: z.boolean().default(false), warnings: z.array(z.string()) },
})

/** What a call has remembered that was carried out before. */
export function rememberedBefore(trace: Trace): StoredMemory {
  const before = planned.parse(trace.notes.remembered)
  return rememberedAs(before, before.equal === null ? onlyOne(storedBefore(trace)) : null)
}
