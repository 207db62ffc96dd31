import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import { givenAs } from '../../domain/validation'
import type { Restored } from '../../services/writing/entries/restore-entries'
import { archivedNote } from '../../services/writing/entries/update-entries'
import type { ToolContext } from '../context'
import { defineWritingTool } from '../define-writing-tool'
import { listOf, output, part, strings } from '../fields'
import { narrowedWarning } from '../history/restore-context'
import { soundArguments } from '../parse-arguments'
import { withWarning } from '../secret-scan'
import { core } from './family'
import { id, ids, lean } from './vocabulary'

const input = z.strictObject({
  change_id: z.string().optional().meta({ description: 'Undo this forget' }),
  id: id('Or undelete this or undo its last update').optional(),
  ids: ids('Or deleted memories').optional(),
  version: z.int().optional().meta({ description: 'Version of id' }),
})
type Arguments = z.output<typeof input>

/** Checks that exactly one of `change_id`, `id` and `ids` is given. @throws Problem invalid_input */
function check({ change_id, id: one, ids: several, version }: Partial<Arguments>): void {
  const ways = [change_id, one, several].filter((way) => way !== undefined && !(Array.isArray(way) && way.length === 0))
  if (ways.length !== 1)
    throw invalidInput('Give exactly one of change_id, id and ids', [{ path: 'id', given: givenAs(one), example: 42 }])
  if (version !== undefined && one === undefined)
    throw invalidInput('version needs id', [{ path: 'version', given: givenAs(version) }])
}

/** Returns the version before the last update of a memory; undefined for a deleted memory, which is restored unchanged. */
async function before({ services, principal }: ToolContext, one: number): Promise<number | undefined> {
  const { deleted, versions } = await services.readHistory.versions(principal, one, { limit: 2, offset: 0 }, false)
  if (deleted) return undefined
  const earlier = versions[1]?.version
  if (earlier === undefined)
    throw invalidInput(`Memory ${one} has no earlier version that is retained: history {"id": ${one}} lists them`)
  return earlier
}

export const restore = defineWritingTool({
  family: core,
  name: 'restore',
  title: 'Restore',
  description: 'Restore deleted memories or an earlier version.',
  effect: 'change',
  example: { id: 7 },
  promise: 'CORE-13',
  budget: { tokens: 140, trips: 5, reads: [145, 145], writes: 33 },
  input,
  output: output({
    restored: listOf(part('Memory', { id: z.int(), version: z.int() }), 'Restored'),
    skipped: listOf(part('Memory', { id: z.int(), reason: z.string() }), 'Not restored'),
    warnings: strings('Warning'),
  }),
  inspect: (args) => check(soundArguments(input, args)),
  async work(context, args) {
    check(args)
    const { change_id: changeId, id: one, ids: several = [], version } = args
    const { services, principal } = context
    if (changeId !== undefined) return services.restoreEntries(principal, { changeId })
    if (one === undefined) return services.restoreEntries(principal, { ids: several, version: undefined })
    return services.restoreEntries(principal, { ids: [one], version: version ?? (await before(context, one)) })
  },
  recall: ({ notes }) => notes.restored as Restored,
  answer({ restored, skipped, archived = [], narrowed = [], remaining, secrets }) {
    const { warnings = [] } = withWarning({}, secrets)
    const notes = [...(warnings as string[]), ...archivedNote(archived), ...narrowed.map(narrowedWarning)]
    return {
      restored,
      ...lean({ skipped, more: remaining === 0 ? null : `${remaining} more: call again`, warnings: notes }),
    }
  },
})
