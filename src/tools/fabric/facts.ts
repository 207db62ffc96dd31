// What do calls that store memories find out, as their receipts keep it?
import * as z from 'zod'
import { savedBy, type Trace } from '../../domain/receipts/receipt'
import { type EventReport, eventAs, type PlannedEvent } from '../../services/writing/events/event-report'
import type { SimilarMemory } from '../../services/writing/events/similar-memories'
import { memoriesAs, type PlannedMemory, type StoredMemory } from '../../services/writing/memories/stored-memory'
import { storedOutcomes } from '../facts'

const layer = z.literal([1, 2, 3])
const planned: z.ZodType<PlannedMemory[]> = z.array(
  z.object({ layer, pinned: z.boolean(), warnings: z.array(z.string()), met: z.int().nullable() }),
)

export const storedMemory: z.ZodType<StoredMemory> = z.object({
  id: z.int(),
  layer,
  pinned: z.boolean(),
  existing: z.boolean(),
  evicted: z.array(z.int()),
  warnings: z.array(z.string()),
})

/** Memories that a call has stored or met which was carried out before, in the order in which it stored them. */
export function storedMemoriesBefore(trace: Trace): StoredMemory[] {
  // Those that it met may have become new versions.
  const stored = savedBy(trace).filter(({ isNew }) => isNew)
  return memoriesAs(planned.parse(trace.notes.memories ?? []), storedOutcomes(trace, stored))
}

const similarMemory: z.ZodType<SimilarMemory> = z.object({
  id: z.int(),
  type: z.string(),
  captured: z.boolean(),
  similarity: z.number(),
  content: z.string(),
  createdAt: z.int(),
  seenAt: z.int(),
})
const similar = z.object({ shown: z.array(similarMemory), count: z.int() }).nullable()

const plannedEvent: z.ZodType<PlannedEvent> = z.object({
  actions: z.array(z.string()),
  message: z.string(),
  similar,
  before: z.int().nullable(),
  counts: z.array(z.boolean()),
  file: z.enum(['none', 'homeless', 'named']),
})

export const eventFacts: z.ZodType<EventReport> = z.object({
  memoryIds: z.tuple([z.int()], z.int()),
  actions: z.array(z.string()),
  message: z.string(),
  similar,
  existing: z.boolean(),
  evicted: z.array(z.int()),
  warnings: z.array(z.string()),
  unindexed: z.boolean(),
})

/** What became of an event that was reported before. */
export const reportedBefore = (trace: Trace): EventReport =>
  eventAs(plannedEvent.parse(trace.notes.event), storedMemoriesBefore(trace))
