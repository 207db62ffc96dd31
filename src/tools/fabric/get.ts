import * as z from 'zod'
import { notFound } from '../../domain/errors'
import { memoryNotFound } from '../../domain/recall/memory'
import { codePointLength, offsetAfter } from '../../domain/text'
import { defineTool } from '../define-tool'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import {
  fabricOutput,
  memoryId,
  memoryOutput,
  projectNamed,
  projectPath,
  readMemoryId,
  shownMemory,
} from './memory-serializer'

/** Returns a part of a content, with the length of the complete content. */
function partOf(text: string, { offset = 0, limit }: { offset?: number | undefined; limit?: number | undefined }) {
  const from = offsetAfter(text, 0, offset)
  const to = limit === undefined ? text.length : offsetAfter(text, from, limit)
  return {
    ...{ content: text.slice(from, to), length: codePointLength(text) },
    ...(to < text.length ? { truncated: true } : {}),
  }
}

const input = z.strictObject({
  memoryId,
  offset: z.int().min(0).optional().meta({ description: 'Code points of content to skip' }),
  limit: z.int().min(1).optional().meta({ description: 'Code points of content to return' }),
  projectPath,
})

export const get = defineTool({
  family: fabric,
  name: 'context_get',
  title: 'Get a memory',
  description: 'Read one complete memory, even if archived.',
  example: { memoryId: '4' },
  promise: 'FABRIC-35',
  budget: { tokens: 140, trips: 2, reads: [14, 14], writes: 2 },
  input,
  output: fabricOutput({ memory: memoryOutput, layer: z.int() }),
  inspect: (args, { principal }) => void projectNamed(principal, soundArguments(input, args)),
  async handler({ services, principal }, args) {
    const project = projectNamed(principal, args)
    const id = readMemoryId(args.memoryId)
    const memory = await services.memories.get(principal, project, id)
    if (memory === null) throw notFound(memoryNotFound(id))
    const part = args.offset === undefined && args.limit === undefined ? null : partOf(memory.text, args)
    return { memory: { ...shownMemory(memory), ...part }, layer: memory.layer }
  },
})
