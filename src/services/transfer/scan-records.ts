import type { Metadata } from '../../domain/entry/metadata'
import { redact, redactValue, secretsOf } from '../../domain/secrets/redact'
import type { EntryRecord, RecordOf } from '../../domain/transfer/records'
import { type Address, addressesIn, addressWarning, secretWarning } from '../../domain/trust/agent-directed'
import type { ImportReport, WarningCode } from './report'

/** Records with texts: entries and past versions. */
type Written = EntryRecord | RecordOf<'version'>

/** The kinds of secrets in a record, and phrases that address an agent. */
export interface SecretScan {
  /** The ID of the record in its file. */
  readonly id: EntryRecord['id']
  readonly kinds: readonly string[]
  readonly addresses: readonly Address[]
}

/** Scans a record. @returns null if it contains no secrets and does not address an agent */
export function scanRecord({ id, text, metadata }: Written): SecretScan | null {
  const kinds = secretsOf({ text, metadata: metadata ?? null })
  const title = metadata?.title
  const addresses = new Set(addressesIn(text, typeof title === 'string' ? title : null))
  return kinds.length + addresses.size === 0 ? null : { id, kinds, addresses: [...addresses] }
}

/** Returns the record without its secrets. */
export function withoutSecrets<R extends Written>(record: R): R {
  const { text, metadata, summary } = record
  const clean = metadata === undefined ? {} : { metadata: redactValue(metadata, '', new Set()) as Metadata }
  return { ...record, text: redact(text), ...clean, ...(summary === undefined ? {} : { summary: redact(summary) }) }
}

const MOST_WARNINGS = 100

/**
 * Adds the warnings about an imported entry: each is counted, and the first hundred are listed.
 *
 * @param line line of its record in the volume
 * @param isRedacted whether its secrets are removed
 */
export function noteSecretScan(
  report: ImportReport,
  line: number,
  { id, kinds, addresses }: SecretScan,
  isRedacted: boolean,
): void {
  const note = (code: WarningCode, message: string) => {
    report.warned = { ...report.warned, [code]: (report.warned?.[code] ?? 0) + 1 }
    report.warnings ??= []
    if (report.warnings.length < MOST_WARNINGS) report.warnings.push({ line, id, code, message })
  }
  if (kinds.length > 0 && isRedacted) note('redacted', `secrets were removed: ${kinds.join(', ')}`)
  else if (kinds.length > 0) note('secret', secretWarning(kinds))
  if (addresses.length > 0) note('addresses_agent', addressWarning(addresses))
}
