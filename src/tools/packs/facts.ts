// What does a call that remembers find out, as its receipt keeps it?
import { z } from 'zod'
import { savedBy, type Trace } from '../../domain/receipts/receipt'
import type { StoredMemory } from '../../services/pack/remember'

const noted = z.object({
  kind: z.string(),
  project: z.string().nullable(),
  links: z.array(z.object({ relation: z.string(), to: z.int() })),
  conflicts: z.array(z.object({ id: z.int(), title: z.string(), reason: z.string() })),
})

export const rememberedFacts: z.ZodType<StoredMemory> = noted.extend({ id: z.int() })

/** What a call has remembered that was carried out before. */
export function rememberedBefore(trace: Trace): StoredMemory {
  const [saved] = savedBy(trace)
  return rememberedFacts.parse({ ...noted.parse(trace.notes.remembered), id: saved?.id })
}
