import { Problem } from '../../domain/errors'
import type { DatabaseHealth } from '../../ports/models'
import type { StorageFault, StorageHost } from '../../ports/storage-host'
import { isReading } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import { toQuery } from '../sqlite/match'
import { LocalFault } from './errors'

/** What an isolate knows of the files of its database: the last fault that kept it from its work. */
export interface StorageState {
  fault: StorageFault | null
}

/** Nothing else may be written meanwhile: what is left of a full disk is for reading. */
const REFUSING: ReadonlySet<StorageFault> = new Set(['full', 'readonly', 'foreign', 'missing'])
/** Whoever starts with these would write over them. */
const CLOSED: ReadonlySet<StorageFault> = new Set(['foreign', 'missing'])

/** Where nobody can be asked. */
export const NO_HOST: StorageHost = { report: async () => null }

/** The machine is asked by a service binding, which `npm start` has. */
export const storageHost = (service: Pick<Fetcher, 'fetch'> | undefined): StorageHost =>
  service === undefined
    ? NO_HOST
    : {
        async report(failed, seen) {
          try {
            const response = await service.fetch(
              `http://storage/${failed ? 'failed' : ''}${seen ? `?seen=${seen}` : ''}`,
            )
            return ((await response.json()) as { fault: StorageFault | null }).fault
          } catch {
            return null
          }
        },
      }

/** A failure in the words of whoever knows why. */
async function explained(error: unknown, host: StorageHost, state: StorageState): Promise<unknown> {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return error
  const known = error instanceof LocalFault ? error : null
  const fault = (await host.report(true, known?.fault)) ?? known?.fault ?? null
  if (fault === null) return error
  state.fault = fault
  return known?.fault === fault ? known : new LocalFault(fault)
}

/**
 * Prepares a database whose files may be broken.
 *
 * @param prepare what is done before the first call; not begun where there is nothing of ours to do it to, and to tell of a database
 *   without tables, which may be one that was lost
 * @throws LocalFault
 */
export async function preparing<T>(
  host: StorageHost,
  state: StorageState,
  prepare: (isNew: () => Promise<void>) => Promise<T>,
): Promise<T> {
  state.fault = await host.report(false)
  if (state.fault !== null && CLOSED.has(state.fault)) throw new LocalFault(state.fault)
  try {
    return await prepare(async () => {
      const fault = await host.report(false, 'empty')
      if (fault !== null && CLOSED.has(fault)) throw new LocalFault(fault)
    })
  } catch (error) {
    throw await explained(error, host, state)
  }
}

/**
 * A connection that says what is wrong with the files of its database, refuses writes while these cannot be, and whose health remembers
 * the write that failed.
 */
export function hosted<Connection extends SqlConnection & { readonly health: DatabaseHealth }>(
  connection: Connection,
  host: StorageHost,
  state: StorageState,
): Connection {
  const explaining = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw await explained(error, host, state)
    }
  }
  return {
    ...connection,
    async batch(statements, lock) {
      // As a rule nothing is wrong, and statements need not be looked at.
      if (state.fault === null) return explaining(connection.batch(statements, lock))
      const reads = statements.map((statement) => isReading(toQuery(statement).sql))
      if (reads.every(Boolean)) return explaining(connection.batch(statements, lock))
      const fault = await host.report(false)
      if (fault !== null && REFUSING.has(fault)) {
        state.fault = fault
        const { isNote = false, usesReserve = false } = typeof lock === 'object' ? lock : {}
        if (usesReserve && fault === 'full') return explaining(connection.batch(statements, lock))
        if (!isNote) throw new LocalFault(fault)
        // Who reads is answered, and nobody notes that.
        const reading = statements.filter((_, i) => reads[i])
        const rows = reading.length === 0 ? [] : [...(await explaining(connection.read(reading)))]
        return reads.map((isRead) => (isRead ? (rows.shift() ?? []) : []))
      }
      const results = await explaining(connection.batch(statements, lock))
      // It can be written to again; what is damaged stays so.
      if (state.fault !== 'damaged') state.fault = null
      return results
    },
    read: (statements) => explaining(connection.read(statements)),
    health: {
      ...connection.health,
      async ping() {
        const fault = await host.report(false)
        // Of what was wrong a host knows whether it still is; without one, the next write finds out.
        const isOver = host !== NO_HOST && state.fault !== null && REFUSING.has(state.fault)
        state.fault = fault ?? (isOver ? null : state.fault)
        await explaining(connection.health.ping())
        if (state.fault !== null) throw new LocalFault(state.fault)
      },
    },
  }
}
