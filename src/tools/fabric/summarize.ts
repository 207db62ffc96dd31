import * as z from 'zod'
import type { Scope } from '../../domain/identity/scope'
import { MEMORY_TYPES } from '../../domain/recall/memory'
import { projectOfWrite } from '../../domain/recall/memory-metadata'
import { savedBy } from '../../domain/receipts/receipt'
import { collectIssues } from '../../domain/validation'
import type { Summarized } from '../../services/writing/memories/summarize'
import { defineWritingTool } from '../define-writing-tool'
import { flag } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import { checkAsked, fabricOutput, projectPath, sessionId, upperLayer } from './memory-serializer'

const input = z.strictObject({
  options: z
    .strictObject({
      targetTokens: z.int().min(50).max(32_000).meta({ description: 'Length of the summary' }),
      focusTypes: z
        .array(z.enum(MEMORY_TYPES).meta({ description: 'Type' }))
        .optional()
        .meta({ description: 'Only these types' }),
      includePatterns: flag(true, 'Include code_pattern and convention'),
      includeDecisions: flag(true, 'Include decision'),
    })
    .meta({ description: 'What to summarize' }),
  layer: upperLayer.default(2).meta({ description: 'Layer' }),
  olderThanDays: z.int().min(1).max(36_500).default(30).meta({ description: 'Minimum age' }),
  sessionId,
  projectPath,
})

/** Checks the arguments and returns the project. @throws Problem that lists every problem */
const checked = (scope: Scope, { sessionId, projectPath }: Partial<z.output<typeof input>>): string | null =>
  collectIssues((wrong) => {
    checkAsked(scope, { sessionId }, wrong)
    const named = projectPath === undefined ? {} : { projectPath }
    return wrong.check('projectPath', projectPath, () => projectOfWrite(scope, named, 'projectPath')) ?? null
  })

export const summarize = defineWritingTool({
  family: fabric,
  name: 'context_summarize',
  title: 'Summarize old memories',
  description:
    'Replace old unpinned memories of a project with one summary. They are archived; context_list shows them with archived: true.',
  effect: 'change',
  example: { projectPath: 'ferry', options: { targetTokens: 2000 } },
  promise: 'FABRIC-105',
  budget: { tokens: 330, trips: 2, reads: [6, 6], writes: 0 },
  input,
  output: fabricOutput({
    summaryId: z.string(),
    summarizedCount: z.int(),
    remaining: z.int(),
    summary: z.string(),
    layer: z.int(),
  }),
  inspect: (args, { principal }) => {
    const sound = soundArguments(input, args)
    const isPlaced = sound.projectPath !== undefined || args.projectPath === undefined
    checked(isPlaced ? principal : { ...principal, projects: null }, sound)
  },
  work({ services, principal }, args) {
    const project = checked(principal, args)
    const { layer, olderThanDays, options } = args
    return services.summarize(principal, {
      ...{ olderThanDays, layer, project },
      ...{ ...options, focusTypes: options.focusTypes ?? [] },
    })
  },
  recall(trace) {
    const [saved] = savedBy(trace)
    return { ...(trace.notes.made as Omit<Summarized, 'id'>), id: saved?.id ?? null }
  },
  answer: ({ id, count, summary, remaining }, { layer }) => ({
    summaryId: id === null ? '' : String(id),
    summarizedCount: count,
    summary,
    layer,
    ...(remaining === 0 ? {} : { remaining }),
  }),
})
