import { nameSimilarity } from '../name-similarity'

/** Kinds of entries (platform contract §2). A rule determines the kind, never a model. */
export const KINDS = [
  'task',
  'epic',
  'project',
  'decision',
  'rule',
  'guide',
  'convention',
  'gotcha',
  'error_pattern',
  'bug_fix',
  'pattern',
  'procedure',
  'template',
  'tool',
  'code_pattern',
  'plan',
  'idea',
  'artifact',
  'document',
  'source',
  'config_file',
  'claim',
  'domain',
  'topic',
  'relationship',
  'session',
  'episode',
  'note',
  'event',
  'scratchpad',
  'summary',
  'verification',
] as const

export type Kind = (typeof KINDS)[number]

const KNOWN: ReadonlySet<string> = new Set(KINDS)

export const isKind = (value: unknown): value is Kind => typeof value === 'string' && KNOWN.has(value)

/** Other words for kinds, in lower case with `_` between words, as agents and other programs use them. */
const ALIASES: Readonly<Record<string, Kind>> = {
  ...{ learning: 'gotcha', lesson: 'gotcha', lesson_learned: 'gotcha', pitfall: 'gotcha', warning: 'gotcha' },
  ...{ todo: 'task', to_do: 'task', issue: 'task', ticket: 'task', bug: 'bug_fix', bugfix: 'bug_fix', fix: 'bug_fix' },
  ...{ adr: 'decision', howto: 'procedure', how_to: 'procedure', runbook: 'procedure', playbook: 'procedure' },
  ...{ error: 'error_pattern', policy: 'rule', constraint: 'rule', guideline: 'guide', snippet: 'code_pattern' },
  ...{ doc: 'document', config: 'config_file', fact: 'note', memory: 'note', observation: 'note' },
}

/**
 * Parses the name of a kind: in any case, with spaces or hyphens for `_`, in the plural, or an alias such as `adr`.
 * @returns null for an unknown word
 */
export function readKind(word: string): Kind | null {
  const name = word
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  for (const one of [name, name.replace(/ies$/, 'y'), name.replace(/s$/, '')]) {
    if (isKind(one)) return one
    if (Object.hasOwn(ALIASES, one)) return ALIASES[one] as Kind
  }
  return null
}

/** All kinds, starting with the three most similar to a word. */
export function kindsLike(word: string): readonly Kind[] {
  const asked = word.slice(0, 100).toLowerCase()
  const similar = [...KINDS].sort((a, b) => nameSimilarity(b, asked) - nameSimilarity(a, asked)).slice(0, 3)
  return [...similar, ...KINDS.filter((kind) => !similar.includes(kind))]
}

/** The kind in metadata: an explicit kind, else the fabric type, else the report type; null without any. */
export function kindOfMetadata(metadata: Readonly<Record<string, unknown>> | null): Kind | null {
  for (const key of ['kind', 'type', 'report_type']) {
    const value = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined
    if (isKind(value)) return value
  }
  return null
}

/** The kind in tags: the only tag that is the name of a kind; null otherwise. */
export function kindOfTags(tags: readonly string[]): Kind | null {
  const named = tags.filter(isKind)
  return named.length === 1 ? (named[0] as Kind) : null
}

/** Determines the kind of an entry. @param isWorkItem whether status and assignee are both set */
export function resolveKind(
  fromMetadata: Kind | null,
  fromTags: Kind | null,
  isWorkItem: boolean,
  source: 'user' | 'agent',
): Kind {
  return fromMetadata ?? fromTags ?? (isWorkItem ? 'task' : source === 'user' ? 'episode' : 'note')
}
