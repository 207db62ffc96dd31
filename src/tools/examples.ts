import type { ValidationIssue } from '../domain/validation'
import type { JsonSchema } from './json-schema'
import { isRecord } from './record'

/** Valid example values by argument name, for error messages. Other arguments get an example from their schema. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  thread_id: 'release-2.1',
  thread_ids: ['release-2.1'],
  text: 'We deploy on Tuesdays, never on Fridays.',
  query: 'when do we deploy',
  tags: ['deploy'],
  metadata: { status: 'done', title: 'Deploy day' },
  metadata_patch: { status: 'done', draft: null },
  metadata_filters: [{ key: 'status', operator: 'eq', value: 'done' }],
  audience: 'project',
  diary: false,
  expires_at: '2026-11-21T10:00:00Z',
  start_date: '2025-11-29',
  end_date: '2025-11-29T10:00:00Z',
  as_of: '2026-11-21T10:00:00Z',
  after: 'start',
  id: '42',
  change_id: '9b2f6c1e0d7a4e5f8c3b1a2d4e6f7081',
  idempotency_key: 'release-2.1-note-1',
  erase: false,
  context_id: 42,
  context_ids: [42, 43],
  images: [{ data: 'iVBORw0KGgo…', mime_type: 'image/png' }],
  data: 'iVBORw0KGgo…',
  mime_type: 'image/png',
  entries: [{ thread_id: 'release-2.1', source: 'agent', text: 'We deploy on Tuesdays, never on Fridays.' }],
  updates: [{ context_id: 42, metadata_patch: { status: 'done' } }],
  key: 'status',
  value: 'done',
  pattern: 'TypeError: ',
  node_id: 'setup/install',
  memoryId: '42',
  timestamp: '2026-11-21T10:00:00Z',
  valid_at: '2026-11-21T10:00:00Z',
  timezone: 'Europe/London',
  also: ['Asia/Tokyo'],
  expression: 'next monday',
  projectPath: 'app',
  project: 'app',
  title: 'Deploy day',
  content: 'We deploy on Tuesdays, never on Fridays.',
  goal: 'Add refresh-token rotation',
  agent_id: 'ci-bot',
  related_to: ['supersedes:42'],
  from: ['42'],
  ...{ domain: 'billing', source_url: 'https://example.com/decisions/7' },
  max_tokens: 4000,
  kind: 'decision',
  status: 'doing',
  weight: 3,
  pinned: true,
  cliType: 'claude-code',
  targetLayer: 3,
  confidence: 0.8,
  lineStart: 1,
  lineEnd: 9,
  fileContext: { path: 'src/auth.ts' },
  codeBlock: { code: 'return 1', language: 'typescript' },
  'metadata.source': 'user_explicit',
  sessionId: 'session-1',
  filePattern: 'src/**/*.ts',
  ...{ currentFile: 'src/auth.ts', filePath: 'src/auth.ts', language: 'typescript', currentCommand: 'npm test' },
  serverPath: 'https://memory.example.com/mcp',
  targetTokens: 2000,
  type: 'decision',
  types: ['decision'],
  event: {
    ...{ type: 'error_occurred', payload: { error: 'TypeError: user is undefined' } },
    ...{ timestamp: '2026-11-21T10:00:00Z', sessionId: 'session-1', cliType: 'claude-code' },
  },
  'event.type': 'error_occurred',
  'event.payload': { error: 'TypeError: user is undefined' },
  'event.payload.path': 'src/auth.ts',
  'event.payload.command': 'npm test',
  'event.payload.exitCode': 1,
  'event.payload.line': 42,
  'event.payload.error': 'TypeError: user is undefined',
  'event.payload.decision': 'Sessions live in D1',
  'event.payload.pattern': 'Guard clauses',
  'event.payload.feedback': 'That fixed it',
}

/** Arguments that complete an example call if its required arguments alone are not enough. The first that exists is used. */
const COMPLETING = ['metadata_patch', 'node_id', 'content']

/** Returns a value that a schema accepts; for an object, its required members and one that completes it. */
function bySchema(schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return undefined
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.anyOf)) return bySchema(schema.anyOf[0] as JsonSchema)
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return 'text'
    case 'array':
      return [bySchema(schema.items as JsonSchema)]
    case 'object': {
      const properties = isRecord(schema.properties) ? (schema.properties as Record<string, JsonSchema>) : {}
      const required = (schema.required as string[] | undefined) ?? Object.keys(properties).slice(0, 1)
      const names = [...required, ...COMPLETING.filter((name) => Object.hasOwn(properties, name)).slice(0, 1)]
      return Object.fromEntries(names.map((name) => [name, EXAMPLES[name] ?? bySchema(properties[name])]))
    }
    default:
      return undefined
  }
}

/** Returns a valid example for an argument. @param path the place of the argument @param schema of that place, if known */
export function exampleAt(path: readonly PropertyKey[], schema?: JsonSchema): unknown {
  const last = path.at(-1)
  const full = path.join('.')
  const name = Object.hasOwn(EXAMPLES, full) ? full : last
  const known = typeof name === 'string' && Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined
  if (known !== undefined) return known
  const list = typeof last === 'number' ? EXAMPLES[String(path.at(-2))] : undefined
  return Array.isArray(list) ? list[0] : bySchema(schema)
}

/** Returns a valid example for a path in text form, such as `images[0].data`. */
const exampleFor = (path: string): unknown =>
  exampleAt(
    path
      .split(/[.[\]]+/)
      .filter((part) => part !== '')
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  )

/** Adds an example to each issue for which one is known. */
export const withExamples = (issues: readonly ValidationIssue[]): ValidationIssue[] =>
  issues.map((issue) => {
    const example = issue.example ?? exampleFor(issue.path)
    return { ...issue, ...(example === undefined ? {} : { example }) }
  })
