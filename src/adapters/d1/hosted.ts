import { Problem } from '../../domain/errors'
import type { DatabaseHealth } from '../../ports/models'
import type { StorageFault, StorageHost } from '../../ports/storage-host'
import { isReading } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import { toQuery } from '../sqlite/match'
import { LocalFault } from './errors'

/** State of the database files, as an isolate knows it: the last storage fault. */
export interface StorageState {
  fault: StorageFault | null
}

/** Faults that make the server refuse all writes; a full disk can still be read. */
const REFUSING: ReadonlySet<StorageFault> = new Set(['full', 'readonly', 'foreign', 'missing'])
/** Faults that keep the server from starting, since it would overwrite the files. */
const CLOSED: ReadonlySet<StorageFault> = new Set(['foreign', 'missing'])

/** A host that reports nothing, for deployments without one. */
export const NO_HOST: StorageHost = { report: async () => null }

/** Creates a host that reports the state of the machine over a service binding, as `npm start` provides one. */
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

/** Returns the failure with the host's explanation, if it has one. */
async function explained(error: unknown, host: StorageHost, state: StorageState): Promise<unknown> {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return error
  const known = error instanceof LocalFault ? error : null
  const fault = (await host.report(true, known?.fault)) ?? known?.fault ?? null
  if (fault === null) return error
  state.fault = fault
  return known?.fault === fault ? known : new LocalFault(fault)
}

/**
 * Prepares a database whose files may be damaged.
 *
 * @param prepare migrates the database. It is not called when the files are not a database of this server, and must report a database
 * without
 * tables, which may be a lost one
 *
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
 * Wraps a connection to report faults of the database files. It refuses writes while they must fail, and its health check remembers the
 * write that failed.
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
      // Without a fault, which is the normal case, statements need no inspection.
      if (state.fault === null) return explaining(connection.batch(statements, lock))
      const reads = statements.map((statement) => isReading(toQuery(statement).sql))
      if (reads.every(Boolean)) return explaining(connection.batch(statements, lock))
      const fault = await host.report(false)
      if (fault !== null && REFUSING.has(fault)) {
        state.fault = fault
        const { isNote = false, usesReserve = false } = typeof lock === 'object' ? lock : {}
        if (usesReserve && fault === 'full') return explaining(connection.batch(statements, lock))
        if (!isNote) throw new LocalFault(fault)
        // Reads still run; their audit notes are dropped.
        const reading = statements.filter((_, i) => reads[i])
        const rows = reading.length === 0 ? [] : [...(await explaining(connection.read(reading)))]
        return reads.map((isRead) => (isRead ? (rows.shift() ?? []) : []))
      }
      const results = await explaining(connection.batch(statements, lock))
      // Writes work again. Damage does not go away.
      if (state.fault !== 'damaged') state.fault = null
      return results
    },
    read: (statements) => explaining(connection.read(statements)),
    health: {
      ...connection.health,
      async ping() {
        const fault = await host.report(false)
        // A host knows whether the fault persists. Without one, the next write finds out.
        const isOver = host !== NO_HOST && state.fault !== null && REFUSING.has(state.fault)
        state.fault = fault ?? (isOver ? null : state.fault)
        await explaining(connection.health.ping())
        if (state.fault !== null) throw new LocalFault(state.fault)
      },
    },
  }
}
