import * as z from 'zod'
import { checkVerbatim } from '../../domain/entry/draft'
import type { Layer } from '../../domain/entry/entry'
import { type Metadata, own } from '../../domain/entry/metadata'
import { Inspection } from '../../domain/flaws'
import type { Scope } from '../../domain/identity/scope'
import { MAX_TTL } from '../../domain/recall/layers'
import { MEMORY_TYPES } from '../../domain/recall/memory'
import { defineWritingTool } from '../define-writing-tool'
import { strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { storedMemoriesBefore, storedMemory } from './facts'
import { fabric } from './family'
import { memoryMetadata, readMetadata } from './memory-wire'
import { checkAsked, checkProject, fabricOutput, projectPath, sessionId } from './wire'

const input = z.strictObject({
  type: z.enum(MEMORY_TYPES).meta({ description: 'What it is' }),
  content: z.string().meta({ description: 'The memory, kept verbatim' }),
  metadata: memoryMetadata(
    '{} or tags, title, projectPath, weight 1–5, confidence, source, cliType, fileContext {path, lineStart, ' +
      'lineEnd}, codeBlock {code, language, filePath}, more',
  ),
  layer: z.int().min(1).max(3).optional().meta({ description: 'Layer' }),
  ttl: z.int().min(1).max(MAX_TTL).optional().meta({ description: 'Seconds in layer 1, else 3600' }),
  pinned: z.boolean().optional().meta({ description: 'Never decays' }),
  sessionId,
  projectPath,
})

/** The metadata as it is read, with the project and the session of the call. @throws Problem that tells everything that is wrong */
function checked(scope: Scope, given: Partial<z.output<typeof input>>): Metadata | undefined {
  const { content, metadata, pinned, sessionId, projectPath } = given
  const wrong = new Inspection()
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
    'Remember something. Without layer, tags and type choose: 1 working notes that expire, 2 knowledge of the project, ' +
    '3 knowledge of the whole org.',
  effect: 'store',
  input,
  output: fabricOutput({
    id: z.string(),
    success: z.boolean(),
    layer: z.int(),
    pinned: z.boolean(),
    existing: z.boolean(),
    evicted: strings('Working memory that went to make room'),
    warnings: strings('Warning'),
  }),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  facts: storedMemory,
  work({ services, principal }, args) {
    const metadata = checked(principal, args) ?? {}
    return services.memories.store(principal, {
      type: args.type,
      content: args.content,
      metadata,
      layer: args.layer as Layer | undefined,
      ttl: args.ttl,
      pinned: args.pinned,
    })
  },
  recall(trace) {
    const [stored] = storedMemoriesBefore(trace)
    return storedMemory.parse(stored)
  },
  answer(stored) {
    return {
      id: String(stored.id),
      success: true,
      layer: stored.layer,
      pinned: stored.pinned,
      ...(stored.existing ? { existing: true } : {}),
      ...(stored.evicted.length === 0 ? {} : { evicted: stored.evicted.map(String) }),
      ...(stored.warnings.length === 0 ? {} : { warnings: stored.warnings }),
    }
  },
})
