import { createFeedBell } from '../adapters/feed-object'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlChangeFeed } from '../adapters/sql/stores/history/change-feed'
import { createSqlSightings } from '../adapters/sql/stores/memories/sightings'
import type { Config } from '../config'
import { type CursorSeal, createCursorSeal } from '../domain/history/cursor'
import type { Millis } from '../domain/time'
import type { ChangeBell } from '../ports/change-bell'
import type { Clock } from '../ports/clock'
import type { Settings } from '../ports/settings'
import { type Changes, createChanges } from '../services/searching/history/changes'
import type { Bindings } from './bindings'

/** The part of compose.ts that follows what changes. */

/** What cursors are sealed with stands in each database and never changes: an isolate asks once. */
const seals = new WeakMap<object, Promise<CursorSeal>>()
const sealsByAddress = new Map<string, Promise<CursorSeal>>()
const SECRET = 'feed_secret'

function sealOf({ DB, HYPERDRIVE }: Bindings, config: Config, settings: Settings): Promise<CursorSeal> {
  const make = async () => {
    const secret = await settings.read(SECRET)
    if (secret === null) throw new Error(`the setting ${SECRET} is missing`)
    return createCursorSeal(secret)
  }
  const onPostgres = config.storageBackend === 'postgresql'
  const address = `${HYPERDRIVE?.connectionString}\n${config.postgresqlSchema}`
  const known = onPostgres ? sealsByAddress.get(address) : DB && seals.get(DB)
  if (known !== undefined) return known
  const seal = make()
  if (onPostgres) sealsByAddress.set(address, seal)
  else if (DB !== undefined) seals.set(DB, seal)
  seal.catch(() => (onPostgres ? sealsByAddress.delete(address) : DB && seals.delete(DB)))
  return seal
}

/** Where no object is bound everyone looks for themselves, a little later. */
const SILENT: ChangeBell = {
  tell: async () => {},
  mark: async () => null,
  wait: async () => null,
  admit: async () => true,
  leave: async () => {},
}

export function composeFeed(
  bindings: Bindings,
  config: Config,
  given: {
    readonly connection: SqlConnection
    readonly settings: Settings
    readonly clock: Clock
    readonly sleep: (ms: Millis) => Promise<void>
    readonly onFailure: (error: unknown) => void
  },
): { readonly bell: ChangeBell; readonly changes: Changes } {
  const { connection, settings, clock, sleep, onFailure } = given
  const bell = bindings.FEEDS === undefined ? SILENT : createFeedBell(bindings.FEEDS, onFailure)
  const seal = () => sealOf(bindings, config, settings)
  return {
    bell,
    changes: createChanges({
      ...{ feed: createSqlChangeFeed(connection, clock), bell, seal, clock, sleep },
      sightings: createSqlSightings(connection, clock),
    }),
  }
}
