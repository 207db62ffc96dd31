import * as z from 'zod'
import { defineWritingTool } from '../define-writing-tool'
import { reportedBefore } from '../facts'
import { listOf, part, strings } from '../fields'
import { input, inspect, read } from './event-arguments'
import { fabric } from './family'
import { replaced } from './memory-serializer'
import { fabricOutput, iso, shownScore } from './wire'

export const reportEvent = defineWritingTool({
  family: fabric,
  name: 'context_reportEvent',
  title: 'Report an event',
  description:
    'Remember what happened in a session: files, commands, errors (tells of similar ones), decisions, patterns, ' +
    'feedback. Secrets are redacted.',
  effect: 'store',
  example: {
    event: {
      type: 'error_occurred',
      payload: { error: 'TypeError: user.email is undefined', file: 'src/users.ts' },
      timestamp: '2026-11-22T04:46:00Z',
      sessionId: 's2',
      cliType: 'claude-code',
      projectPath: 'ferry',
    },
  },
  promise: 'FABRIC-89',
  budget: { tokens: 340, trips: 5, reads: [2_790, 10_500], writes: 150 },
  input,
  output: fabricOutput({
    processed: z.boolean(),
    memoryId: z.string(),
    memoryIds: strings('Id'),
    triggeredActions: strings('Action'),
    message: z.string(),
    similar: listOf(part('Known already', { id: z.string(), type: z.string(), content: z.string() }), 'Known already'),
    similarCount: z.int(),
    existing: z.boolean(),
    evicted: strings('Working memory that went to make room'),
    warnings: strings('Warning'),
  }),
  inspect,
  work: (context, args) => {
    const { project, reported, wrong } = read(context, args)
    return context.services.reportEvent.report(context.principal, project, reported, wrong)
  },
  recall: reportedBefore,
  unfinished: {
    when: ({ unindexed }) => unindexed,
    finish(context, args, facts) {
      const { project, reported } = read(context, args)
      return context.services.reportEvent.finish(context.principal, project, reported, facts)
    },
  },
  answer({ memoryIds, actions, message, similar, existing, evicted, warnings }) {
    return {
      processed: true,
      memoryId: String(memoryIds[0]),
      memoryIds: memoryIds.map(String),
      triggeredActions: actions,
      message,
      ...(similar === null
        ? {}
        : {
            similar: similar.shown.map(({ id, type, similarity, content, createdAt, ...one }) => ({
              ...{ id: String(id), type, similarity: shownScore(similarity), content, createdAt: iso(createdAt) },
              ...replaced(one),
            })),
            similarCount: similar.count,
          }),
      ...(existing ? { existing } : {}),
      ...(evicted.length === 0 ? {} : { evicted: evicted.map(String) }),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
