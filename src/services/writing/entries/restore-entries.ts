import type { Generated } from '../../../domain/entry/entry'
import { narrowToPresent, type ReaderField } from '../../../domain/entry/readers'
import { notFound } from '../../../domain/errors'
import { versionConflict } from '../../../domain/history/version'
import type { Caller } from '../../../domain/identity/scope'
import { note } from '../../../domain/receipts/notes'
import { scheduler } from '../../../domain/scheduler'
import { secretsOf } from '../../../domain/secrets/redact'
import type { Millis } from '../../../domain/time'
import type { History, Restoration, RetainedVersion } from '../../../ports/history'
import { withRetries } from '../../outcome'
import type { Generate } from './generate'

/** Bringing back what was deleted or changed (history contract §3). */
export interface Restored {
  readonly restored: readonly { readonly id: number; readonly version: number }[]
  readonly skipped: readonly { readonly id: number; readonly reason: string }[]
  /** Of the restored ones, those that are archived again. */
  readonly archived: readonly number[]
  /** How many are left, for a further call of the same kind. */
  readonly remaining: number
  /** Those that keep fields of the present entry, which the restored state would have made readable by more. */
  readonly narrowed: readonly { readonly id: number; readonly fields: readonly ReaderField[] }[]
  /** What sorts of secrets those look like to hold that came back. */
  readonly secrets: readonly string[]
}

/** Entries a call. */
const MAX_RESTORED = 1000
/** Texts and metadata of a call: they are read, analysed and embedded. */
const MOST_BYTES = 4_000_000
const UNKNOWN = 'not found'
const STANDING = 'not deleted'
const AGAIN = 'came back and was deleted again by a later call'
/** Of a state that does not come back. @param secrets that it holds, where it has not ended */
const reasonOf = (secrets: readonly string[] | undefined): string =>
  secrets === undefined ? 'expired' : `holds what looks like a secret: ${secrets.join(', ')}`

/** Why nothing comes back where not enough of it can. */
function incomplete(skipped: Restored['skipped']): string {
  const why = skipped.filter(({ reason }) => reason !== STANDING).map(({ id, reason }) => `entry ${id}: ${reason}`)
  return `Not enough of what was dropped can come back (${why.join(', ') || 'the rest is not kept'}), so nothing was undone`
}

export type RestoreEntries = ReturnType<typeof createRestoreEntries>

export function createRestoreEntries(dependencies: {
  readonly history: History
  /** Vectors alone: summaries are kept with the states. */
  readonly generate: Generate
  readonly now: () => Millis
  /** What becomes of states that look like they hold secrets: they come back and are told of, or stay where they are (REDACT). */
  readonly redact?: 'warn' | 'always'
}) {
  const { history, generate, now, redact = 'warn' } = dependencies

  async function secretsIn(states: readonly RetainedVersion[]): Promise<Map<number, readonly string[]>> {
    const found = new Map<number, readonly string[]>()
    for (const { id, state } of states) {
      const kinds = secretsOf(state)
      if (kinds.length > 0) found.set(id, kinds)
      await scheduler.tick(state.text.length)
    }
    return found
  }

  /** Vectors of the texts that come back, in the places of the states. */
  async function vectorsOf(states: readonly RetainedVersion[]): Promise<Generated[]> {
    const made = await generate(states.map(({ state: { title, text, source } }) => ({ title, text, source })))
    return states.map((_, i) => made[i] as Generated)
  }

  /**
   * @throws Problem conflict when the one entry is at another version than expected, not_found when nothing of a call is kept;
   * unavailable when vectors cannot be made, then nothing is restored
   * @param least how many must stand there after it, or else nothing is restored
   */
  return async (caller: Caller, what: Restoration, expectedVersion?: number, least = 0): Promise<Restored> => {
    return withRetries(async () => {
      const found = await history.restorable(caller, what, { limit: MAX_RESTORED, maxBytes: MOST_BYTES })
      const [only] = found.kept
      if ('changeId' in what && only === undefined && found.existing.size + found.again.length === 0)
        throw notFound('Nothing that this change_id has deleted is kept')
      if (expectedVersion !== undefined && only !== undefined && only.currentVersion !== expectedVersion)
        throw versionConflict(
          { id: only.id, version: only.currentVersion, at: only.currentAt, by: only.currentBy },
          expectedVersion,
        )
      const [first = 0] = 'ids' in what ? what.ids : []
      const stands = only === undefined ? found.existing.get(first) : undefined
      if (expectedVersion !== undefined && stands !== undefined && stands.version !== expectedVersion)
        throw versionConflict({ id: first, ...stands }, expectedVersion)
      const instant = now()
      const lasting = found.kept.filter(({ expiresAt }) => expiresAt === null || expiresAt > instant)
      const secrets = await secretsIn(lasting)
      const good = redact === 'always' ? lasting.filter(({ id }) => !secrets.has(id)) : lasting
      const states = good.map((kept) => ({
        ...kept,
        narrowed: kept.present === null ? null : narrowToPresent(caller, kept.state, kept.present),
      }))
      const known = new Set(found.kept.map(({ id }) => id))
      const { existing: standing } = found
      // Of a call that is undone in several, what the earlier ones brought back is told only when nothing else is left.
      const again =
        'changeId' in what && only === undefined
          ? [
              ...[...standing.keys()].map((id) => ({ id, reason: STANDING })),
              ...found.again.map((id) => ({ id, reason: AGAIN })),
            ]
          : []
      const named = 'ids' in what ? [...new Set(what.ids)] : []
      // Those that did not fit are for the next call.
      const missing = found.more > 0 ? [] : named.filter((id) => !known.has(id))
      const version = 'ids' in what ? what.version : undefined
      // One answer for a version that never was, one that was purged and one that the caller may not see.
      const whyNot = (id: number): string =>
        version === undefined
          ? STANDING
          : standing.get(id)?.version === version
            ? `it stands at version ${version}`
            : `version ${version} is not kept`
      const restored = {
        restored: good.map(({ id, currentVersion }) => ({ id, version: currentVersion + 1 })),
        skipped: [
          ...found.kept
            .filter((kept) => !good.includes(kept))
            .map(({ id }) => ({ id, reason: reasonOf(secrets.get(id)) })),
          ...missing.map((id) => ({ id, reason: standing.has(id) ? whyNot(id) : UNKNOWN })),
          ...again,
        ],
        archived: good.filter(({ live, state }) => !live && state.archived).map(({ id }) => id),
        narrowed: states.flatMap(({ id, narrowed }) => (narrowed === null ? [] : [{ id, fields: narrowed.fields }])),
        remaining: found.more,
        secrets: [...new Set(good.flatMap(({ id }) => secrets.get(id) ?? []))],
      }
      if (good.length + standing.size + found.more < least) throw notFound(incomplete(restored.skipped))
      if (good.length > 0) {
        note(caller, 'restored', restored)
        await history.restore(caller, states, await vectorsOf(states))
      }
      return restored
    })
  }
}
