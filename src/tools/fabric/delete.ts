import * as z from 'zod'
import type { Layer } from '../../domain/entry/entry'
import { defineWritingTool } from '../define-writing-tool'
import { expectedVersion } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import { fabricOutput, memoryId, projectNamed, projectPath, readMemoryId } from './memory-serializer'

const input = z.strictObject({ memoryId, expected_version: expectedVersion, projectPath })

export const remove = defineWritingTool({
  family: fabric,
  name: 'context_delete',
  title: 'Delete a memory',
  description: 'Delete one memory.',
  effect: 'change',
  example: { memoryId: '5' },
  promise: 'FABRIC-43',
  budget: { tokens: 130, trips: 4, reads: [95, 95], writes: 23 },
  input,
  output: fabricOutput({ success: z.boolean(), deletedFrom: z.int() }),
  inspect: (args, { principal }) => void projectNamed(principal, soundArguments(input, args)),
  isCostly: () => false,
  async work({ services, principal }, args) {
    const project = projectNamed(principal, args)
    const id = readMemoryId(args.memoryId)
    return { layer: await services.memories.delete(principal, project, id, args.expected_version) }
  },
  recall: ({ notes }) => ({ layer: notes.layer as Layer }),
  answer: ({ layer }) => ({ success: true, deletedFrom: layer }),
})
