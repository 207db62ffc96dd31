import { z } from 'zod'
import { notFound } from '../../domain/errors'
import { memoryNotFound } from '../../domain/recall/memory'
import { defineTool } from '../define-tool'
import { fabric } from './family'
import { memoryId, memoryOutput, readMemoryId, shownMemory } from './memory-wire'
import { fabricOutput, namedProject, projectPath } from './wire'

export const get = defineTool({
  family: fabric,
  name: 'context_get',
  title: 'Get a memory',
  description: 'Bring one memory whole, also an archived one.',
  effect: 'read',
  input: z.strictObject({ memoryId, projectPath }),
  output: fabricOutput({ memory: memoryOutput, layer: z.int() }),
  async handler({ services, principal }, args) {
    const id = readMemoryId(args.memoryId)
    const memory = await services.memories.get(principal, namedProject(principal, args.projectPath), id)
    if (memory === null) throw notFound(memoryNotFound(id))
    return { memory: shownMemory(memory), layer: memory.layer }
  },
})
