/** What sort of memory an entry is (platform contract §2). Resolved by rule, never by a model. */
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

/** The kind that metadata names: explicit kind, fabric type, then report type; null when it names none. */
export function kindOfMetadata(metadata: Readonly<Record<string, unknown>> | null): Kind | null {
  for (const key of ['kind', 'type', 'report_type']) {
    const value = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined
    if (isKind(value)) return value
  }
  return null
}

/** The kind that tags name: exactly one tag is a kind's name. */
export function kindOfTags(tags: readonly string[]): Kind | null {
  const named = tags.filter(isKind)
  return named.length === 1 ? (named[0] as Kind) : null
}

/** The whole rule. `isWorkItem`: status and assignee are both set. */
export function resolveKind(
  fromMetadata: Kind | null,
  fromTags: Kind | null,
  isWorkItem: boolean,
  source: 'user' | 'agent',
): Kind {
  return fromMetadata ?? fromTags ?? (isWorkItem ? 'task' : source === 'user' ? 'episode' : 'note')
}
