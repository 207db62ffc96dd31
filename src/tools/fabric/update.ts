import * as z from 'zod'
import { checkTags, checkVerbatim } from '../../domain/entry/draft'
import { type Metadata, own } from '../../domain/entry/metadata'
import { statusWarnings } from '../../domain/entry/work'
import { invalidInput } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import { excerptOf } from '../../domain/recall/excerpts'
import type { Memory } from '../../domain/recall/memory'
import { tagsOfMetadata } from '../../domain/recall/memory-metadata'
import { IssueCollector } from '../../domain/validation'
import { defineWritingTool } from '../define-writing-tool'
import { expectedVersion, tags } from '../fields'
import { soundArguments } from '../parse-arguments'
import { withWarnings } from '../secret-scan'
import { fabric } from './family'
import {
  checkProject,
  fabricOutput,
  memoryId,
  memoryMetadata,
  memoryOutput,
  projectPath,
  readMemoryId,
  readMetadata,
  shownMemory,
  upperLayer,
} from './memory-serializer'

/** Code points of the content in an answer; the caller knows the content. */
const CONTENT = 200

const input = z.strictObject({
  memoryId,
  content: z.string().optional().meta({ description: 'New content' }),
  metadata: memoryMetadata('Merged by key; null removes').optional(),
  tags: tags('Replaces all').optional(),
  weight: z.int().min(1).max(5).optional().meta({ description: 'Importance' }),
  pinned: z.boolean().optional().meta({ description: 'Never decays' }),
  targetLayer: upperLayer.optional().meta({ description: 'Promote, alone' }),
  expected_version: expectedVersion,
  projectPath,
})

/** The updated memory; absent after a promotion, whose answer needs only the ID. */
interface Facts {
  readonly changed?: { readonly memory: Record<string, unknown>; readonly layer: number }
}

const factsOf = (memory: Memory): Facts => ({
  changed: { memory: { ...shownMemory(memory), ...excerptOf(memory.text, CONTENT) }, layer: memory.layer },
})

/** Checks the arguments and reads their metadata. @throws Problem that lists every problem */
function checked(scope: Scope, args: Partial<z.output<typeof input>>) {
  const { content, weight, pinned } = args
  const wrong = new IssueCollector()
  if (content !== undefined) wrong.check('content', content, () => checkVerbatim(content, 'content'))
  const metadata = args.metadata && readMetadata(args.metadata, wrong, true)
  const project = checkProject(scope, { projectPath: args.projectPath }, wrong)
  if (metadata !== undefined) checkMove({ ...scope, projects: null }, metadata, wrong)
  const given = args.tags && wrong.check('tags', args.tags, () => checkTags(args.tags ?? []))
  wrong.end()
  const inMetadata = metadata === undefined ? null : tagsOfMetadata(metadata)
  if (given && inMetadata !== null && JSON.stringify(given) !== JSON.stringify(inMetadata))
    wrong.refuse('tags', args.tags, 'tags and metadata.tags differ; give one of them')
  for (const [name, value] of Object.entries({ weight, pinned }))
    if (value !== undefined && metadata && Object.hasOwn(metadata, name) && metadata[name] !== value)
      wrong.refuse(name, value, `${name} and metadata.${name} differ; give one of them`)
  wrong.end()
  return { change: { content, metadata, tags: given, weight, pinned }, project }
}

/** Checks the project that a memory moves to. The service checks access when it has read the memory. */
function checkMove(scope: Scope, { projectPath, project }: Metadata, wrong: IssueCollector): void {
  if (typeof projectPath === 'string')
    checkProject(scope, { 'metadata.projectPath': projectPath, 'metadata.project': project }, wrong)
}

export const update = defineWritingTool({
  family: fabric,
  name: 'context_update',
  title: 'Update a memory',
  description: 'Change parts of a memory in layer 2 or 3, or promote one with targetLayer. Unarchives archived ones.',
  effect: 'change',
  example: { memoryId: '4', content: 'Wrap every query in withTenant(), reads too.' },
  promise: 'FABRIC-48',
  budget: { tokens: 290, trips: 5, reads: [175, 175], writes: 83 },
  input,
  output: fabricOutput({
    memory: memoryOutput,
    layer: z.int(),
    success: z.boolean(),
    memoryId: z.string(),
    newLayer: z.int(),
  }),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async work({ services, principal }, args) {
    const { change, project } = checked(principal, args)
    const changes = Object.values(change).some((part) => part !== undefined)
    const { targetLayer } = args
    if (!changes && targetLayer === undefined)
      throw invalidInput('No change given; give content, metadata, tags, weight, pinned or targetLayer', [
        { path: 'content', given: 'nothing' },
      ])
    if (changes && targetLayer !== undefined)
      throw invalidInput('targetLayer cannot be combined with other changes; promote in a separate call', [
        { path: 'targetLayer', given: `number ${targetLayer}` },
      ])
    const id = readMemoryId(args.memoryId)
    if (targetLayer !== undefined) {
      await services.memories.promote(principal, project, id, targetLayer, args.expected_version)
      return {}
    }
    const memory = await services.memories.update(principal, project, id, {
      ...change,
      expectedVersion: args.expected_version,
    })
    return factsOf(memory)
  },
  recall: ({ output, text }, { content }) =>
    output.shown === undefined ? {} : factsOf({ ...output.shown, text: text ?? content ?? '' }),
  answer: ({ changed }, { memoryId, targetLayer, metadata }) =>
    changed === undefined
      ? { success: true, memoryId: String(readMemoryId(memoryId)), newLayer: targetLayer }
      : withWarnings(
          { ...changed, success: true },
          statusWarnings(String(changed.memory.type), own((metadata ?? null) as Metadata | null, 'status')),
        ),
})
