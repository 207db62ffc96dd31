import * as z from 'zod'
import type { EntryDraft } from '../../domain/entry/draft'
import { done, onlyValue } from '../../services/outcome'
import { defineWritingTool } from '../define-writing-tool'
import { images, metadata, newTags, output, source, text, threadId } from '../fields'
import { inspectImages } from '../images'
import { callsOfThreads, earlierFromReceipt, mayReplaceMembers, mayReplaceOutput } from '../may-replace'
import { onlyOne, storedFromReceipt } from '../receipt-outcomes'
import { bracket, later } from './entry-serializer'
import { threads } from './family'

export const storeArguments = z.strictObject({
  thread_id: threadId('Conversation or task, ≤ 256 characters, case-sensitive'),
  source: source('Author'),
  text,
  images: images('Up to 10').optional(),
  metadata: metadata(
    '≤ 256 KB. Useful keys: title, status, project, agent_name, report_type, references.context_ids, ' +
      'supersedes, depends_on',
  ).optional(),
  tags: newTags('Labels, lower-cased').optional(),
})

export const toDraft = (args: z.output<typeof storeArguments>): EntryDraft => ({
  threadId: args.thread_id,
  source: args.source,
  text: args.text,
  metadata: args.metadata,
  tags: args.tags,
  images: args.images,
})

export const storeContext = defineWritingTool({
  family: threads,
  name: 'store_context',
  title: 'Store context',
  description:
    'Store one memory in a thread that the team shares. Repeating the newest text of a source updates that entry.',
  effect: 'store',
  example: {
    thread_id: 'release-1.4',
    source: 'agent',
    text: 'The flaky login test waits for the wrong selector.',
    tags: ['tests'],
    metadata: { project: 'ferry', kind: 'gotcha' },
  },
  promise: 'THREADS-24',
  budget: { tokens: 330, trips: 4, reads: [540, 540], writes: 232 },
  input: storeArguments,
  output: output({
    success: z.boolean(),
    context_id: z.int(),
    thread_id: z.string(),
    version: z.int(),
    message: z.string(),
    may_replace: mayReplaceOutput.optional(),
    judge: z.string().optional(),
  }),
  inspect: inspectImages,
  async work({ services, principal }, args) {
    const { text, metadata = null, tags = [] } = args
    const earlier = await services.earlierOf(principal, { text, metadata, tags })
    const draft = done(toDraft(args))
    return { ...onlyValue(await services.storeEntries(principal, [draft], { atomic: true, dedupe: true })), earlier }
  },
  recall: (trace) => ({ ...onlyOne(storedFromReceipt(trace)), earlier: earlierFromReceipt(trace) }),
  answer({ earlier, ...stored }) {
    const withImages = stored.images > 0 ? ` with ${stored.images} images` : ''
    return {
      success: true,
      context_id: stored.id,
      thread_id: stored.threadId,
      version: stored.version,
      message: `${stored.isNew ? 'Context stored' : 'Context updated'}${withImages}${bracket(stored.made)}`,
      ...mayReplaceMembers(stored.isNew ? earlier : [], (id) => id, callsOfThreads(stored.id)),
      ...later([stored]),
    }
  },
})
