// In which order do the statements of several entries run? One entry after the other, or step by step.
import type { SQL } from 'drizzle-orm'
import type { Row } from './connection'
import type { SqlDialect } from './dialect'

interface Arranged {
  readonly statements: readonly SQL[]
  /** The row that the first statement of each part returned, from the rows of all statements. */
  readonly firstRows: (rows: readonly Row[][]) => Row[]
}

/** The first statements of all parts, then the second ones and so on, where that makes statements alike follow each other. */
export function arrange({ likeTogether }: SqlDialect, parts: readonly (readonly SQL[])[]): Arranged {
  if (likeTogether) {
    const steps = Math.max(0, ...parts.map(({ length }) => length))
    const statements = Array.from({ length: steps }, (_, step) => parts.flatMap((part) => part[step] ?? [])).flat()
    return { statements, firstRows: (rows) => parts.map((_, i) => rows[i]?.[0] ?? {}) }
  }
  const starts: number[] = []
  let length = 0
  for (const part of parts) {
    starts.push(length)
    length += part.length
  }
  return { statements: parts.flat(), firstRows: (rows) => starts.map((at) => rows[at]?.[0] ?? {}) }
}
