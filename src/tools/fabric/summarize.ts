import { z } from 'zod'
import { MEMORY_TYPES } from '../../domain/recall/memory'
import { defineTool } from '../define-tool'
import { flag } from '../fields'
import { fabric } from './family'
import { checkSession, fabricOutput, namedProject, projectPath, sessionId } from './wire'

export const summarize = defineTool({
  family: fabric,
  name: 'context_summarize',
  title: 'Summarize old memories',
  description:
    'Put one summary in the place of old unpinned memories of a project; they are archived, and still found by id.',
  effect: 'change',
  input: z.strictObject({
    options: z
      .strictObject({
        targetTokens: z.int().min(50).max(32_000).meta({ description: 'Length of the summary' }),
        focusTypes: z
          .array(z.enum(MEMORY_TYPES).meta({ description: 'Type' }))
          .optional()
          .meta({ description: 'Only these types' }),
        includePatterns: flag(true, 'Take in code_pattern and convention'),
        includeDecisions: flag(true, 'Take in decision'),
      })
      .meta({ description: 'What to make' }),
    layer: z.int().min(2).max(3).default(2).meta({ description: 'Layer' }),
    olderThanDays: z.int().min(1).max(36_500).default(30).meta({ description: 'Least age' }),
    sessionId,
    projectPath,
  }),
  output: fabricOutput({ summaryId: z.string(), summarizedCount: z.int(), summary: z.string(), layer: z.int() }),
  async handler({ services, principal }, args) {
    checkSession(args.sessionId)
    const { layer, olderThanDays, options } = args
    const { id, count, summary } = await services.summarize(principal, {
      ...{ olderThanDays, layer: layer as 2 | 3, project: namedProject(principal, args.projectPath) },
      ...{ ...options, focusTypes: options.focusTypes ?? [] },
    })
    return { summaryId: id === null ? '' : String(id), summarizedCount: count, summary, layer }
  },
})
