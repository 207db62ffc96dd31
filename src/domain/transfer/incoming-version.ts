import { createHash } from 'node:crypto'
import type { JsonObject } from '../entry/metadata'
import { CHANGED_PARTS } from '../history/version'
import { type IncomingEntry, type IncomingLink, incomingState } from './incoming'
import type { Intake } from './incoming-checks'
import type { RecordOf } from './records'

export interface IncomingVersion extends IncomingEntry {
  readonly links: readonly IncomingLink[]
  readonly ended: {
    readonly at: number
    readonly version: number
    readonly by: string | null
    readonly agent: string | null
    readonly changeId: string
    readonly changed: number
    readonly deleted: boolean
  }
}

/** @throws Problem as `incomingState` */
export function incomingVersion(
  record: RecordOf<'version'>,
  metadata: JsonObject | null,
  links: readonly IncomingLink[],
  intake: Intake,
): IncomingVersion {
  const { at, version, by, agent, change_id, changed = [], deleted } = record.ended
  const state = incomingState(record, metadata, intake)
  const mask = CHANGED_PARTS.reduce((sum, part, bit) => sum + (changed.includes(part) ? 1 << bit : 0), 0)
  return {
    ...state,
    links,
    ended: {
      at: Date.parse(at),
      version: version ?? state.version + 1,
      by: by === undefined ? null : intake.isTrusted ? by : intake.keyId,
      agent: agent ?? null,
      changeId: change_id ?? createHash('sha256').update(`${record.id} ${state.version}`).digest('hex').slice(0, 32),
      changed: mask,
      deleted: deleted === true,
    },
  }
}
