// Which kind of memory does another program's word mean? Only where it is plain; the word itself is always kept.
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

/** Metadata members for a type: the kind, and the word where it is another. */
export function kindOf(type: string | null): JsonObject {
  if (type === null || type.trim() === '') return {}
  const word = type.trim().toLowerCase()
  const kind = isKind(word) ? word : (MEANT[word] ?? 'note')
  return kind === type ? { kind } : { kind, type }
}
