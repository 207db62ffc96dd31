import { z } from 'zod'
import { defineTool } from '../define-tool'
import { expectedVersion } from '../fields'
import { fabric } from './family'
import { memoryId, readMemoryId } from './memory-wire'
import { fabricOutput, namedProject, projectPath } from './wire'

export const remove = defineTool({
  family: fabric,
  name: 'context_delete',
  title: 'Delete a memory',
  description: 'Delete one memory.',
  effect: 'change',
  input: z.strictObject({ memoryId, expected_version: expectedVersion, projectPath }),
  output: fabricOutput({ success: z.boolean(), deletedFrom: z.int() }),
  isCostly: () => false,
  async handler({ services, principal }, args) {
    const id = readMemoryId(args.memoryId)
    const project = namedProject(principal, args.projectPath)
    const layer = await services.memories.delete(principal, project, id, args.expected_version)
    return { success: true, deletedFrom: layer }
  },
})
