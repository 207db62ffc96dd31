// What does a failure of the files under a local D1 mean to a caller? On Cloudflare there are none. Sentences say what is wrong and who
// can mend it, without paths: the terminal of `npm start` names those (scripts/serve/storage.mjs).
import { Problem } from '../../domain/errors'
import type { StorageFault } from '../../ports/storage-host'

const OPERATOR = 'whoever runs the server'

const SENTENCES: Record<StorageFault, string> = {
  full:
    'The disk that the database is on is full; nothing was changed. Reading and deleting go on, ' +
    'writing as soon as there is room on that disk',
  readonly: `The folder of the database cannot be written to, so it cannot be used; ${OPERATOR} has to allow that and to start it again`,
  damaged:
    'The database is damaged, and what this call asks for cannot be read or written; ' +
    `${OPERATOR} has to bring it back from a copy`,
  foreign:
    'What stands in the place of the database is not one of this server, or its beginning is damaged; it is left as it is, and ' +
    `${OPERATOR} has to bring the right one back`,
  missing:
    'The database is gone or empty, although it held memory; it is not replaced by a new one, and ' +
    `${OPERATOR} has to bring it back, or to say that it begins anew`,
  failing: `The disk that the database is on fails to read or write; ${OPERATOR} has to look after it`,
}

/** SQLite's own names, and its words for them. */
const NAMES: readonly (readonly [RegExp, StorageFault])[] = [
  [/SQLITE_FULL|disk is full/i, 'full'],
  [/SQLITE_READONLY|readonly database/i, 'readonly'],
  [/SQLITE_CORRUPT|disk image is malformed/i, 'damaged'],
  [/SQLITE_NOTADB|file is not a database/i, 'foreign'],
  [/SQLITE_(IOERR|CANTOPEN)|disk I\/O error|unable to open database/i, 'failing'],
]

/** A failure that trying again does not mend. */
export class LocalFault extends Problem {
  constructor(
    readonly fault: StorageFault,
    cause?: unknown,
  ) {
    super('unavailable', SENTENCES[fault], { retryable: false }, cause)
  }
}

/** Every message that has a fault of its own. */
export const LOCAL_FAULT = new RegExp(NAMES.map(([words]) => words.source).join('|'), 'i')

/** @param error whose message `LOCAL_FAULT` matches */
export function localFault(error: unknown): LocalFault {
  const message = error instanceof Error ? error.message : String(error)
  const [, fault = 'failing' as const] = NAMES.find(([words]) => words.test(message)) ?? []
  return new LocalFault(fault, error)
}
