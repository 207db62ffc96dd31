import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/validation'
import type { Restored } from '../../services/writing/entries/restore-entries'
import { archivedNote } from '../../services/writing/entries/update-entries'
import { defineWritingTool } from '../define-writing-tool'
import { contextIds, expectedVersion, output, part } from '../fields'
import { withWarning, withWarnings } from '../secret-scan'
import { history } from './family'

/** Explains why a restored entry keeps some current fields. */
export const narrowedWarning = ({ id, fields }: Restored['narrowed'][number]): string =>
  `Entry ${id} keeps its current ${fields.join(', ')}: the older value would let more people read it. ` +
  'To change who can read it, set the field with update_context'

export const restoreContext = defineWritingTool({
  family: history,
  name: 'restore_context',
  title: 'Restore context',
  description:
    'Restore deleted entries, by ID or all of one delete call (its change_id), or an older version of one entry.',
  effect: 'change',
  example: { context_ids: [1], version: 1 },
  promise: 'HISTORY-24',
  budget: { tokens: 190, trips: 7, reads: [757, 740], writes: 329 },
  input: z.strictObject({
    context_ids: contextIds('Entries to restore').min(1).optional(),
    version: z.int().min(1).optional().meta({ description: 'Of one entry: becomes its newest version' }),
    change_id: z.string().optional().meta({ description: 'Or all that this call deleted' }),
    expected_version: expectedVersion,
  }),
  output: output({
    success: z.boolean(),
    restored: z.array(part('Entry', { context_id: z.int(), version: z.int() })),
    skipped: z.array(part('Entry', { context_id: z.int(), reason: z.string() })),
    remaining: z.int().meta({ description: 'Call again, under another key, until 0' }),
  }),
  async work({ services, principal }, { context_ids: ids, version, change_id: changeId, expected_version: expected }) {
    if ((ids === undefined) === (changeId === undefined))
      throw invalidInput('Provide either context_ids or change_id', [{ path: 'context_ids', given: givenAs(ids) }])
    for (const [path, value] of Object.entries({ version, expected_version: expected }))
      if (value !== undefined && new Set(ids ?? []).size !== 1)
        throw invalidInput(`${path} needs exactly one ID in context_ids`, [
          { path: 'context_ids', given: givenAs(ids), example: [42] },
        ])
    const what = changeId === undefined ? { ids: ids ?? [], version } : { changeId }
    return services.restoreEntries(principal, what, expected)
  },
  recall: ({ notes }) => notes.restored as Restored,
  answer({ restored, skipped, archived = [], narrowed = [], remaining, secrets }) {
    const named = ({ id, ...rest }: { readonly id: number }) => ({ context_id: id, ...rest })
    const result = { success: true, restored: restored.map(named), skipped: skipped.map(named), remaining }
    return withWarnings(withWarning(result, secrets), [...archivedNote(archived), ...narrowed.map(narrowedWarning)])
  },
})
