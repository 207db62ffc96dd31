import * as z from 'zod'
import { checkVerbatim } from '../../domain/entry/draft'
import type { Layer } from '../../domain/entry/entry'
import { type Metadata, own } from '../../domain/entry/metadata'
import type { Scope } from '../../domain/identity/scope'
import { MAX_TTL } from '../../domain/recall/layers'
import { MEMORY_TYPES } from '../../domain/recall/memory'
import { projectOfWrite } from '../../domain/recall/memory-metadata'
import { IssueCollector } from '../../domain/validation'
import type { StoredMemory } from '../../services/writing/memories/memories'
import { defineWritingTool } from '../define-writing-tool'
import { strings } from '../fields'
import { earlierFromReceipt, holdingBoth, mayReplaceMembers, mayReplaceTexts, replacing } from '../may-replace'
import { soundArguments } from '../parse-arguments'
import { memoriesFromReceipt } from '../receipt-outcomes'
import { fabric } from './family'
import {
  checkAsked,
  checkProject,
  fabricOutput,
  memoryMetadata,
  projectPath,
  readMetadata,
  sessionId,
} from './memory-serializer'

const input = z.strictObject({
  type: z.enum(MEMORY_TYPES).meta({ description: 'What it is' }),
  content: z.string().meta({ description: 'The memory, stored verbatim' }),
  metadata: memoryMetadata(
    '{} or tags, title, projectPath, weight 1–5, confidence, source, cliType, fileContext {path, lineStart, ' +
      'lineEnd}, codeBlock {code, language, filePath}, more',
  ),
  layer: z.int().min(1).max(3).optional().meta({ description: 'Layer' }),
  ttl: z.int().min(1).max(MAX_TTL).optional().meta({ description: 'Seconds in layer 1, default 3600' }),
  pinned: z.boolean().optional().meta({ description: 'Never decays' }),
  sessionId,
  projectPath,
})

/** Checks the arguments and returns the metadata with project and session. @throws Problem that lists every problem */
function checked(scope: Scope, given: Partial<z.output<typeof input>>): Metadata | undefined {
  const { content, metadata, pinned, sessionId, projectPath } = given
  const wrong = new IssueCollector()
  if (content !== undefined) wrong.check('content', content, () => checkVerbatim(content, 'content'))
  checkAsked(scope, { sessionId }, wrong)
  const read = metadata && readMetadata(metadata, wrong, false)
  const inMetadata = (key: string) => read && own(read, key)
  const places = { 'metadata.projectPath': inMetadata('projectPath'), 'metadata.project': inMetadata('project') }
  checkProject(scope, { projectPath, ...places }, wrong)
  const named = inMetadata('pinned')
  if (pinned !== undefined && typeof named === 'boolean' && named !== pinned)
    wrong.refuse('pinned', pinned, 'pinned and metadata.pinned differ; give one of them')
  wrong.end()
  if (read === undefined) return undefined
  return {
    ...read,
    ...(pinned === true ? { pinned } : {}),
    ...(projectPath === undefined ? {} : { projectPath }),
    ...(sessionId === undefined || Object.hasOwn(read, 'sessionId') ? {} : { sessionId }),
  }
}

export const store = defineWritingTool({
  family: fabric,
  name: 'context_store',
  title: 'Store a memory',
  description:
    'Store a memory. Without layer, tags and type choose: 1 working notes that expire, 2 knowledge of the project, ' +
    '3 knowledge of the organization.',
  effect: 'store',
  example: { type: 'code_pattern', content: 'Wrap every query in withTenant().', metadata: { projectPath: 'ferry' } },
  promise: 'FABRIC-43',
  budget: { tokens: 320, trips: 5, reads: [300, 290], writes: 54 },
  input,
  output: fabricOutput({
    id: z.string(),
    success: z.boolean(),
    layer: z.int(),
    pinned: z.boolean(),
    existing: z.boolean(),
    may_replace: mayReplaceTexts.optional(),
    judge: z.string().optional(),
    evicted: strings('Working memory evicted to make space'),
    warnings: strings('Warning'),
  }),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async work({ services, principal }, args) {
    const metadata = checked(principal, args) ?? {}
    const { content: text, type: kind } = args
    const project = projectOfWrite(principal, metadata)
    const drafted = { ...metadata, kind, ...(project === null ? {} : { project }) }
    const earlier = await services.earlierOf(principal, { text, isVerbatim: true, metadata: drafted, tags: [] })
    const stored = await services.memories.store(principal, {
      type: args.type,
      content: args.content,
      metadata,
      layer: args.layer as Layer | undefined,
      ttl: args.ttl,
      pinned: args.pinned,
    })
    return { ...stored, earlier }
  },
  recall(trace) {
    const [stored] = memoriesFromReceipt(trace)
    return { ...(stored as StoredMemory), earlier: earlierFromReceipt(trace) }
  },
  answer({ earlier, ...stored }) {
    const id = String(stored.id)
    const patched = (metadata: object, memoryId = id): string =>
      `context_update ${JSON.stringify({ memoryId, metadata })}`
    return {
      id: String(stored.id),
      success: true,
      layer: stored.layer,
      pinned: stored.pinned,
      ...(stored.existing ? { existing: true } : {}),
      ...mayReplaceMembers(stored.existing ? [] : earlier, String, {
        replaces: (one) => patched(replacing(one)),
        bothHold: (one) => {
          const holder = holdingBoth(stored.id, one)
          return patched(holder.patch, String(holder.id))
        },
      }),
      ...(stored.evicted.length === 0 ? {} : { evicted: stored.evicted.map(String) }),
      ...(stored.warnings.length === 0 ? {} : { warnings: stored.warnings }),
    }
  },
})
