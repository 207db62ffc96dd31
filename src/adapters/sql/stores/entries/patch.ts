import { type SQL, sql } from 'drizzle-orm'
import { checkMetadataSize, MAX_METADATA_BYTES } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import { jsonText } from '../../../../domain/json/write'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { Batch, runOne } from '../../core/batch'
import { FALSE } from '../../core/compile-filter'
import { PremiseFailed, type SqlConnection } from '../../core/connection'
import { flag, num, onlyRow } from '../../core/rows'
import { changeable } from '../../core/visibility'
import { auditOneStatement } from '../../tables/changes/audit-log'
import { takenBy } from '../../tables/changes/quota'
import type { Write } from '../../tables/changes/writing'
import { approvalColumns, assignments, writerColumns } from '../../tables/writes/entry-columns'

const TOO_LARGE = 'metadata would be larger than 256 KB after this patch'
const MET = 'The entry was deleted and brought back at this moment; try again'

/** The entry store's `patch`. @param write within the limits of the org; throws PremiseFailed where the guard refuses */
export function createPatch(connection: SqlConnection, write: Write, clock: Clock): Pick<EntryStore, 'patch'> {
  const { dialect } = connection
  return {
    async patch(caller, id, patch) {
      const now = clock.now()
      const row = sql`id = ${id} AND ${changeable(dialect, caller, now, 'entries')}`
      const merged = (was: SQL) => dialect.mergePatch(sql`coalesce(${was}, '{}')`, sql`${jsonText(patch)}`)
      const mergedBytes = dialect.byteLength(merged(sql`metadata`))
      const guard = sql`
        INSERT INTO guards (holds)
        SELECT coalesce((SELECT ${mergedBytes} <= ${MAX_METADATA_BYTES} FROM entries WHERE ${row}), ${FALSE})`
      const update = sql`
        UPDATE entries
        SET bytes = bytes - coalesce(${dialect.byteLength(sql`metadata`)}, 0) + ${mergedBytes},
          metadata = ${dialect.asWritten(sql`${id}`, merged)},
          version = version + 1, updated_at = ${now}, ${assignments({
            ...writerColumns(caller),
            ...approvalColumns(caller, sql`version + 1`, sql`addresses_agent`),
          })}
        WHERE ${row} RETURNING version, archived`
      const audit = auditOneStatement(caller, now, id, 'updated', sql`EXISTS (SELECT 1 FROM entries WHERE ${row})`)
      try {
        const batch = new Batch(guard)
        const patched = batch.add(
          update,
          onlyRow((changed) => ({ version: num(changed, 'version'), archived: flag(changed, 'archived') })),
        )
        const takes = () => takenBy([{ metadata: patch }])
        return (await write(caller, batch.do([audit]), { takes })).of(patched)
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        const size = sql`SELECT ${mergedBytes} AS bytes FROM entries WHERE ${row}`
        const bytes = await runOne(connection, size, ([found]) => (found === undefined ? null : num(found, 'bytes')))
        if (bytes === null) return null
        checkMetadataSize(patch)
        // Where it fits, the guard has found no entry, which is there again.
        throw bytes > MAX_METADATA_BYTES ? new Problem('limit_exceeded', TOO_LARGE) : new Problem('conflict', MET)
      }
    },
  }
}
