import { cutShort } from '../text'
import type { Millis } from '../time'
import type { Memory } from './memory'

/** A code pattern in an answer. */
export interface Pattern {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly code: string
  readonly language: string
  readonly usageCount: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: Millis
  readonly relatedFiles: readonly string[]
}

const DESCRIPTION = 200
export const NO_LANGUAGE = 'text'

const stringAt = (memory: Memory, key: string, member: string): string | null => {
  const value = memory.metadata !== null && Object.hasOwn(memory.metadata, key) ? memory.metadata[key] : null
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, member)) return null
  const found = value[member]
  return typeof found === 'string' ? found : null
}

/** Converts a memory to a pattern. @param usedAt time of its last use */
export function patternOf(memory: Memory, usedAt: Millis): Pattern {
  const files = [stringAt(memory, 'fileContext', 'path'), stringAt(memory, 'codeBlock', 'filePath')]
  return {
    id: memory.id,
    name: memory.title ?? `Pattern ${memory.id}`,
    description: cutShort(memory.text, DESCRIPTION),
    code: stringAt(memory, 'codeBlock', 'code') ?? memory.text,
    language: stringAt(memory, 'codeBlock', 'language') ?? stringAt(memory, 'fileContext', 'language') ?? NO_LANGUAGE,
    usageCount: Math.max(1, memory.accessCount),
    lastUsedAt: usedAt,
    relatedFiles: [...new Set(files.filter((file) => file !== null))],
  }
}
