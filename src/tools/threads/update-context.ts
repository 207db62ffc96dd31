import * as z from 'zod'
import type { UpdateDraft } from '../../domain/entry/update'
import { done, onlyValue } from '../../services/outcome'
import { defineWritingTool } from '../define-writing-tool'
import { contextId, expectedVersion, images, metadata, newTags, output, strings, text } from '../fields'
import { inspectImages } from '../images'
import { onlyOne, updatedFromReceipt } from '../receipt-outcomes'
import { bracket, later } from './entry-serializer'
import { threads } from './family'

export const updateArguments = z.strictObject({
  context_id: contextId('Entry to change'),
  expected_version: expectedVersion,
  text: text.optional(),
  metadata: metadata('Replaces all; not with metadata_patch').optional(),
  metadata_patch: metadata('JSON Merge Patch: sets the given keys, null deletes one', 'metadata_patch').optional(),
  tags: newTags('Replaces all tags; [] clears them').optional(),
  images: images('Replaces all images; [] clears them').optional(),
})

export const toUpdate = (args: z.output<typeof updateArguments>): UpdateDraft => ({
  id: args.context_id,
  expectedVersion: args.expected_version,
  text: args.text,
  metadata: args.metadata,
  metadataPatch: args.metadata_patch,
  tags: args.tags,
  images: args.images,
})

export const updateContext = defineWritingTool({
  family: threads,
  name: 'update_context',
  title: 'Update context',
  description:
    'Change text, metadata, tags or images of an entry; the rest stays. Prefer metadata_patch: patches do not overwrite each other.',
  effect: 'change',
  example: { context_id: 1, metadata_patch: { status: 'done' }, expected_version: 1 },
  promise: 'THREADS-48',
  budget: { tokens: 370, trips: 4, reads: [300, 300], writes: 100 },
  input: updateArguments,
  output: output({
    success: z.boolean(),
    context_id: z.int(),
    version: z.int(),
    updated_fields: strings('Field'),
    message: z.string(),
  }),
  isCostly: ({ images, text }) => images !== undefined || text !== undefined,
  queuesWork: ({ images, text }) => images !== undefined || text !== undefined,
  inspect: inspectImages,
  work: async ({ services, principal }, args) =>
    onlyValue(await services.updateEntries(principal, [done(toUpdate(args))], true)),
  recall: (trace) => onlyOne(updatedFromReceipt(trace)),
  answer: ({ id, version, updatedFields, made, archived, warnings }) => ({
    success: true,
    context_id: id,
    version,
    updated_fields: updatedFields,
    message: `Successfully updated ${updatedFields.length} field(s)${bracket(made)}`,
    ...later([{ id, made, archived, warnings }]),
  }),
})
