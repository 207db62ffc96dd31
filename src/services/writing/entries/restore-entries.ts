import type { Generated } from '../../../domain/entry/entry'
import { narrowToPresent, type ReaderField } from '../../../domain/entry/readers'
import { notFound } from '../../../domain/errors'
import { versionConflict } from '../../../domain/history/version'
import type { Caller } from '../../../domain/identity/scope'
import { note } from '../../../domain/receipts/notes'
import { scheduler } from '../../../domain/scheduler'
import { secretsOf } from '../../../domain/secrets/redact'
import type { Millis } from '../../../domain/time'
import type { History, Restorable, Restoration, RetainedVersion } from '../../../ports/history'
import { withRetries } from '../../outcome'
import type { Generate } from './generate'

/** The result of a restore (history contract §3). */
export interface Restored {
  readonly restored: readonly { readonly id: number; readonly version: number }[]
  readonly skipped: readonly { readonly id: number; readonly reason: string }[]
  /** Restored entries that are archived. */
  readonly archived: readonly number[]
  /** Number of entries left for a further call. */
  readonly remaining: number
  /** Entries that keep current fields, because the restored values would let more people read them. */
  readonly narrowed: readonly { readonly id: number; readonly fields: readonly ReaderField[] }[]
  /** Kinds of possible secrets in restored entries. */
  readonly secrets: readonly string[]
}

/** Entries of a call. */
const MAX_RESTORED = 1000
/** Bytes of texts and metadata of a call, which are read, analyzed and embedded. */
const MOST_BYTES = 4_000_000
const UNKNOWN = 'not found'
const STANDING = 'not deleted'
const AGAIN = 'restored, then deleted again by a later call'
/** Returns why a state is not restored. @param secrets kinds in the state; undefined for an expired one */
const reasonOf = (secrets: readonly string[] | undefined): string =>
  secrets === undefined ? 'expired' : `holds what looks like a secret: ${secrets.join(', ')}`

/** Returns why nothing is restored if not enough can be. */
function incomplete(skipped: Restored['skipped']): string {
  const why = skipped.filter(({ reason }) => reason !== STANDING).map(({ id, reason }) => `entry ${id}: ${reason}`)
  return `Not enough of the entries can be restored (${why.join(', ') || 'the rest is not retained'}), so nothing was undone`
}

/** One version for all entries, or one for each ID. */
type Versions = number | readonly number[] | undefined

const versionOf = (ids: readonly number[], id: number, versions: Versions): number | undefined =>
  typeof versions === 'object' ? versions[ids.indexOf(id)] : versions

/** Checks the present versions of entries. @throws Problem conflict */
function checkVersions({ kept, existing }: Restorable, ids: readonly number[], expected: Versions): void {
  const present = new Map([
    ...[...existing].filter(([id]) => ids.includes(id)),
    ...kept.map(({ id, currentVersion: version, currentAt: at, currentBy: by }) => [id, { version, at, by }] as const),
  ])
  for (const [id, current] of present) {
    const version = versionOf(ids, id, expected)
    if (version !== undefined && current.version !== version) throw versionConflict({ id, ...current }, version)
  }
}

export type RestoreEntries = ReturnType<typeof createRestoreEntries>

export function createRestoreEntries(dependencies: {
  readonly history: History
  /** Only for vectors: retained versions include summaries. */
  readonly generate: Generate
  readonly now: () => Millis
  /** Policy for states with possible secrets: `warn` restores them with a warning, `always` skips them (REDACT). */
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

  /** Returns vectors of the restored texts, in the order of the states. */
  async function vectorsOf(states: readonly RetainedVersion[]): Promise<Generated[]> {
    const made = await generate(states.map(({ state: { title, text, source } }) => ({ title, text, source })))
    return states.map((_, i) => made[i] as Generated)
  }

  /**
   * Restores entries.
   *
   * @throws Problem conflict if an entry is at another version than expected, not_found if nothing of a change is retained;
   *   unavailable if vectors cannot be computed, then nothing is restored
   * @param expected the present version of the only entry, or of each ID
   * @param least minimum entries that must exist afterwards, or that must get the given versions; otherwise nothing is restored
   * @example
   * await services.restoreEntries(caller, { changeId: '9b2f6c1e0d7a4e5f8c3b1a2d4e6f7081' })
   */
  return async (caller: Caller, what: Restoration, expected?: Versions, least = 0): Promise<Restored> => {
    const ids = 'ids' in what ? what.ids : []
    return withRetries(async () => {
      const found = await history.restorable(caller, what, { limit: MAX_RESTORED, maxBytes: MOST_BYTES })
      const [only] = found.kept
      if ('changeId' in what && only === undefined && found.existing.size + found.again.length === 0)
        throw notFound('The entries that this change_id deleted are not retained')
      checkVersions(found, ids, expected)
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
      // Entries that earlier calls of the same undo restored are reported only when nothing else is left.
      const again =
        'changeId' in what && only === undefined
          ? [
              ...[...standing.keys()].map((id) => ({ id, reason: STANDING })),
              ...found.again.map((id) => ({ id, reason: AGAIN })),
            ]
          : []
      const named = [...new Set(ids)]
      // Entries that did not fit are left for the next call.
      const missing = found.more > 0 ? [] : named.filter((id) => !known.has(id))
      const given = 'ids' in what ? what.version : undefined
      // One answer for unknown, purged and invisible versions.
      const whyNot = (id: number): string => {
        const version = versionOf(ids, id, given)
        if (version === undefined) return STANDING
        return standing.get(id)?.version === version
          ? `it is already at version ${version}`
          : `version ${version} is not retained`
      }
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
      const enough = given === undefined ? good.length + standing.size + found.more : good.length
      if (enough < least) throw notFound(incomplete(restored.skipped))
      if (good.length > 0) {
        note(caller, 'restored', restored)
        await history.restore(caller, states, await vectorsOf(states))
      }
      return restored
    })
  }
}
