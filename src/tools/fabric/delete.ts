import * as z from 'zod'
import { defineWritingTool } from '../define-writing-tool'
import { expectedVersion } from '../fields'
import { fabric } from './family'
import { memoryId, readMemoryId } from './memory-wire'
import { fabricOutput, namedProject, projectPath } from './wire'

/** The layer it was in. */
const facts = z.object({ layer: z.int() })

export const remove = defineWritingTool({
  family: fabric,
  name: 'context_delete',
  title: 'Delete a memory',
  description: 'Delete one memory.',
  effect: 'change',
  input: z.strictObject({ memoryId, expected_version: expectedVersion, projectPath }),
  output: fabricOutput({ success: z.boolean(), deletedFrom: z.int() }),
  isCostly: () => false,
  facts,
  async work({ services, principal }, args) {
    const id = readMemoryId(args.memoryId)
    const project = namedProject(principal, args.projectPath)
    return { layer: await services.memories.delete(principal, project, id, args.expected_version) }
  },
  recall: ({ notes }) => facts.parse(notes),
  answer: ({ layer }) => ({ success: true, deletedFrom: layer }),
})
