import { z } from 'zod'
import { defineTool } from '../define-tool'
import { fabric } from './family'
import { memoryId, readMemoryId } from './memory-wire'
import { fabricOutput, namedProject, projectPath } from './wire'

export const remove = defineTool({
  family: fabric,
  name: 'context_delete',
  title: 'Delete a memory',
  description: 'Delete one memory for good.',
  effect: 'change',
  input: z.strictObject({ memoryId, projectPath }),
  output: fabricOutput({ success: z.boolean(), deletedFrom: z.int() }),
  async handler({ services, principal }, args) {
    const id = readMemoryId(args.memoryId)
    const layer = await services.memories.delete(principal, namedProject(principal, args.projectPath), id)
    return { success: true, deletedFrom: layer }
  },
})
