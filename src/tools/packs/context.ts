import * as z from 'zod'
import { Problem } from '../../domain/errors'
import { checkGoal, PACK_LAYERS } from '../../domain/pack/pack-request'
import { INTENTS } from '../../domain/pack/sections'
import { defineTool } from '../define-tool'
import { flag, listOf, output, part } from '../fields'
import { namedProject } from '../project'
import { packs } from './family'

/** A required goal whose problems have the messages of the contract. */
const goal = z
  .unknown()
  .superRefine((value, context) => {
    try {
      checkGoal(value)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      context.addIssue({ code: 'custom', message: error.message, params: { problem: error } })
    }
  })
  .transform(String)
  .meta({ type: 'string', description: 'What you will do, ≤ 10,000 characters' })

const text = (description: string) => z.string().optional().meta({ description })
/** A number that is silently clamped to its bounds. */
const clamped = (description: string) => z.number().meta({ type: 'integer', description })

export const context = defineTool({
  family: packs,
  name: 'context',
  title: 'Context',
  description: 'Call before work: compiles decisions, open work, rules, pitfalls for a goal.',
  example: { goal: 'sign out stolen phones', project: 'ferry' },
  promise: 'PACK-19',
  budget: { tokens: 270, trips: 4, reads: [42_200, 105_000], writes: 14 },
  input: z.strictObject({
    goal,
    intent: z.enum(INTENTS).default('build').meta({ description: 'Orders the sections' }),
    layer: z.enum(PACK_LAYERS).default('recall').meta({ description: 'wake: short; deep_search: wide' }),
    domain: text('Preferred area'),
    project: text('This project, and entries of none'),
    agent_id: text('Add its diary'),
    limit: clamped('Items, 1–50').optional(),
    include_related: flag(true, 'List linked entries'),
    related_limit: clamped('0–5 an item').default(3),
    max_tokens: z.int().min(100).max(32_000).optional().meta({ description: 'Budget' }),
  }),
  output: output({
    goal: z.string(),
    intent: z.string(),
    query: z.string(),
    domain: z.string().nullable(),
    project: z.string().nullable(),
    layer: z.string(),
    sections: listOf(
      part('Section', { facet: z.string(), title: z.string(), items: listOf(part('Item', {}), 'Best first') }),
      'In order',
    ),
    total_items: z.int(),
    usage_hint: z.string(),
    markdown: z.string(),
    diagnostics: part('Searches and omissions', {}),
  }),
  inspect: ({ project }, { principal }) => void namedProject(principal, project),
  async handler({ services, principal }, { agent_id, include_related, related_limit, max_tokens, ...args }) {
    namedProject(principal, args.project)
    const pack = await services.packs.context(principal, {
      ...args,
      agentId: agent_id,
      includeRelated: include_related,
      relatedLimit: related_limit,
      maxTokens: max_tokens,
    })
    return { ...pack }
  },
})
