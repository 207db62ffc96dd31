import { TOOLS } from '../../src/tools/catalogue'
import { CORE_TOOLS } from '../../src/tools/core/tools'
import type { Tool } from '../../src/tools/define-tool'
import { calledName } from './tool-places'

/** The tools of every address. */
export const ALL_TOOLS: readonly Tool[] = [...TOOLS, ...CORE_TOOLS]

/**
 * The phase in which a tool's example runs: entries that it needs are stored and changed before, and deletions come
 * last.
 */
function phaseOf({ annotations }: Tool): number {
  if (annotations.readOnlyHint) return 2
  if (annotations.destructiveHint) return annotations.idempotentHint ? 3 : 1
  return 0
}

/**
 * The example of each tool, in the order store, change, read, delete, then as listed. docs/tools.md shows them with
 * their answers.
 */
export const EXAMPLES: readonly (readonly [name: string, args: Record<string, unknown>])[] = ALL_TOOLS.toSorted(
  (a, b) => phaseOf(a) - phaseOf(b),
).map((tool) => [calledName(tool), tool.example])

/** The declaration of a tool that only exists in a test. */
export const UNDECLARED = {
  example: {},
  promise: 'none',
  budget: { tokens: 0, trips: 0, reads: [0, 0], writes: 0 },
} as const

const IDS = /^(id|ids|context_id|context_ids|memoryId)$/

/** The arguments of an example for other entries: its `n`th entry becomes the `n`th of these. */
export const aboutEntries = (example: Readonly<Record<string, unknown>>, ids: readonly number[]) => {
  const swapped = (id: unknown): unknown =>
    Array.isArray(id) ? id.map(swapped) : typeof id === 'string' ? String(ids[Number(id)]) : ids[Number(id)]
  return Object.fromEntries(
    Object.entries(example).map(([key, value]) => [key, IDS.test(key) ? swapped(value) : value]),
  )
}
