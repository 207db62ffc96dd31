import * as z from 'zod'
import type { Scope } from '../../domain/identity/scope'
import { type TimeDescription, temporal } from '../../domain/recall/calendar'
import { type MemorySummary, typeOfKind } from '../../domain/recall/memory'
import { cutShort } from '../../domain/text'
import { collectIssues } from '../../domain/validation'
import { checkRequestedTime } from '../../services/searching/memories/orient'
import { defineTool } from '../define-tool'
import { listOf, part, strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import { checkAsked, fabricOutput, iso, projectPath, replaced, sessionId } from './memory-serializer'

const input = z.strictObject({
  timezone: z.string().default('UTC').meta({ description: 'Such as Europe/London or +05:45' }),
  projectPath,
  sessionId,
  expression: z.string().default('').meta({
    description: 'Time to resolve: now, tomorrow, end of week, next monday, ISO date, epoch ms …',
  }),
  also: z
    .array(z.string().meta({ description: 'Zone' }))
    .max(20)
    .optional()
    .meta({ description: 'Zones to convert to' }),
})

/** Checks the arguments and returns the project. @throws Problem that lists every problem */
const checked = (scope: Scope, given: Partial<z.output<typeof input>>): string | null =>
  collectIssues((wrong) => {
    const { projectPath, sessionId, ...moment } = given
    checkRequestedTime(moment, wrong)
    return checkAsked(scope, { projectPath, sessionId }, wrong)
  })

const face = part('A time', { epochMs: z.number(), timezone: z.string(), iso: z.string() })

/** Code points of a summary row (50 tokens, fabric contract §1), and bounds of its content. Tags count against it. */
const BUDGET = { summaryRow: 200, shortest: 32, longest: 100 } as const

const summaryRow = ({ id, kind, content, createdAt, tags, supersededBy }: MemorySummary) => {
  const shown = (text: string) => ({
    ...{ id: String(id), type: typeOfKind(kind), content: text, createdAt: iso(createdAt), tags },
    ...replaced({ supersededBy }),
  })
  const left = BUDGET.summaryRow - JSON.stringify(shown('')).length - 1
  return shown(cutShort(content, Math.min(BUDGET.longest, Math.max(BUDGET.shortest, left))))
}

/** Serializes a time (fabric contract §6). */
const timeShown = ({
  epochMs,
  iso,
  timezone,
  utcOffset,
  timeOfDay,
  date,
  dayOfWeek,
  isWeekend,
  weekNumber,
}: TimeDescription) => ({
  ...{ epochMs, iso, timezone, utcOffset, timeOfDay, date, dayOfWeek, isWeekend, weekNumber },
})

export const orient = defineTool({
  family: fabric,
  name: 'context_orient',
  title: 'Orient in time',
  description:
    'Begin each session with this: returns the time and memories stored since your last visit. Also resolves dates and converts time zones.',
  example: { projectPath: 'ferry', expression: 'next monday' },
  promise: 'FABRIC-78',
  budget: { tokens: 200, trips: 1, reads: [5, 5], writes: 0 },
  input,
  output: fabricOutput({
    summary: z.string(),
    time: face,
    resolved: z.number(),
    resolvedAnchor: face,
    conversions: listOf(face, 'In another zone'),
    recentMemories: listOf(z.looseObject({}), 'Stored since, oldest first'),
    warnings: strings('Warning'),
  }),
  loads: () => temporal.load(),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async handler({ services, principal }, args) {
    const project = checked(principal, args)
    const { timezone, expression, also = null } = args
    const sessionId = args.sessionId ?? null
    const found = await services.orient(principal, { timezone, project, sessionId, expression, also })
    const { summary, time, absence, recent, resolved, conversions, warnings } = found
    return {
      ...{
        summary,
        time: timeShown(time),
        projectPath: project,
        offlineGap: absence,
        recentMemories: recent.map(summaryRow),
      },
      ...(resolved === null ? {} : { resolved: resolved.epochMs, resolvedAnchor: resolved }),
      ...(conversions === null ? {} : { conversions }),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
