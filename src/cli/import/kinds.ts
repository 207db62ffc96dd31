// Maps types of other programs to kinds of memory, only where the meaning is clear; the original word is always stored.
import { isKind } from '../../domain/entry/kind'
import type { JsonObject } from '../../domain/entry/metadata'

const MEANT: Readonly<Record<string, string>> = {
  bug: 'bug_fix',
  bugfix: 'bug_fix',
  preference: 'convention',
  mistake: 'gotcha',
  conversation: 'episode',
  skill: 'procedure',
}

/** Returns metadata for a type: the kind, and the original word if it differs. */
export function kindOf(type: string | null): JsonObject {
  if (type === null || type.trim() === '') return {}
  const word = type.trim().toLowerCase()
  const kind = isKind(word) ? word : (MEANT[word] ?? 'note')
  return kind === type ? { kind } : { kind, type }
}
