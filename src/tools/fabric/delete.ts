import * as z from 'zod'
import { inspected } from '../../domain/flaws'
import { defineWritingTool } from '../define-writing-tool'
import { expectedVersion } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import { memoryId, readMemoryId } from './memory-wire'
import { checkProject, fabricOutput, projectPath } from './wire'

/** The layer it was in. */
const facts = z.object({ layer: z.int() })

const input = z.strictObject({ memoryId, expected_version: expectedVersion, projectPath })

export const remove = defineWritingTool({
  family: fabric,
  name: 'context_delete',
  title: 'Delete a memory',
  description: 'Delete one memory.',
  effect: 'change',
  example: { memoryId: '5' },
  promise: 'FABRIC-43',
  budget: { tokens: 130, trips: 4, reads: [90, 90], writes: 23 },
  input,
  output: fabricOutput({ success: z.boolean(), deletedFrom: z.int() }),
  inspect: (args, { principal }) =>
    inspected((wrong) => void checkProject(principal, { projectPath: soundArguments(input, args).projectPath }, wrong)),
  isCostly: () => false,
  facts,
  async work({ services, principal }, args) {
    const project = inspected((wrong) => checkProject(principal, { projectPath: args.projectPath }, wrong))
    const id = readMemoryId(args.memoryId)
    return { layer: await services.memories.delete(principal, project, id, args.expected_version) }
  },
  recall: ({ notes }) => facts.parse(notes),
  answer: ({ layer }) => ({ success: true, deletedFrom: layer }),
})
