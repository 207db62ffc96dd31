import type { LongTexts } from '../../../../ports/entry-texts'
import { Batch } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { unstage } from '../../tables/texts/staged-texts'

export function createSqlLongTexts(connection: SqlConnection): LongTexts {
  const { dialect } = connection
  return {
    async withdraw(org, hash) {
      await new Batch(...unstage(dialect, org, [hash], 'claimed')).run(connection, { org })
    },
  }
}
