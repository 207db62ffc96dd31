import { APPROVED_AUDIENCE } from '../../domain/capture/review'
import { isKind, KINDS } from '../../domain/entry/kind'
import { AUDIENCES, type JsonObject } from '../../domain/entry/metadata'
import { invalidInput } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import { codePointLength, trim } from '../../domain/text'
import { KnownIds } from '../../domain/transfer/content-checksum'
import type { EntryRecord } from '../../domain/transfer/records'
import { writeVolumes } from '../../domain/transfer/volume-writer'
import type { Clock } from '../../ports/clock'
import type { ImportVolume } from './import-volume'

/** A memory that a program read from a source, such as a repository. */
export interface ProposedMemory {
  /** Identifies the proposal in its source, whatever a person does with it later. */
  readonly key: string
  readonly kind: string
  readonly title: string
  readonly content: string
  readonly tags: readonly string[]
  /** Further metadata, such as `sources`. */
  readonly metadata: JsonObject
}

export interface ProposedBatch {
  /** The source, such as `github.com/acme/ferry`. It names the thread `learn:<from>`. */
  readonly from: string
  readonly project: string | null
  /** Who can read a proposal once it is approved; null for its owner alone. */
  readonly audience: string | null
  readonly proposals: readonly ProposedMemory[]
}

export interface ProposedReport {
  /** New proposals, which now wait for review. */
  readonly stored: number
  /** Proposals that wait already, or were approved. */
  readonly known: number
  /** Proposals that were dropped, or whose memory was deleted. */
  readonly dropped: number
  readonly refused: readonly { readonly key: string; readonly message: string }[]
}

const MOST_PROPOSED = 100
const MOST = { from: 250, key: 200, title: 200, content: 20_000 } as const

/** Metadata that only this service sets. */
const RESERVED = [
  'captured',
  'audience',
  'kind',
  'title',
  'project',
  'expires_at',
  'diary',
  'work',
  'quote',
  APPROVED_AUDIENCE,
] as const

const checkLength = (name: keyof typeof MOST, value: string): void => {
  if (trim(value) === '' || codePointLength(value) > MOST[name])
    throw invalidInput(`${name} must have 1 to ${MOST[name]} characters`)
}

function check({ from, audience, proposals }: ProposedBatch): void {
  checkLength('from', from)
  if (audience !== null && !AUDIENCES.some((known) => known === audience))
    throw invalidInput(`audience must be one of: ${AUDIENCES.join(', ')}`)
  if (proposals.length > MOST_PROPOSED) throw invalidInput(`proposals has more than ${MOST_PROPOSED} items`)
  if (new Set(proposals.map(({ key }) => key)).size < proposals.length)
    throw invalidInput('Each proposal needs a key of its own')
  for (const { key, kind, title, content, metadata } of proposals) {
    for (const [name, value] of Object.entries({ key, title, content }))
      checkLength(name as 'key' | 'title' | 'content', value)
    if (!isKind(kind)) throw invalidInput(`kind must be one of: ${KINDS.join(', ')}`)
    const reserved = RESERVED.find((name) => Object.hasOwn(metadata, name))
    if (reserved !== undefined) throw invalidInput(`metadata.${reserved} is reserved. Leave it out`)
  }
}

/** Keeps a key that is a number apart from the IDs of entries. */
const ID_PREFIX = 'learn:'
const IMPORTED_ONCE = { onConflict: 'skip', dryRun: false, keepsIds: false, once: true } as const

async function* inOnePart(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export type StoreProposals = ReturnType<typeof createStoreProposals>

/**
 * Stores proposals of a program, which wait for the review of the caller. They are an import of entries that are captured and private, so a
 * proposal is stored once: after a review too, and after its memory was deleted.
 */
export function createStoreProposals({ imports, clock }: { readonly imports: ImportVolume; readonly clock: Clock }) {
  return async (caller: Caller, batch: ProposedBatch): Promise<ProposedReport> => {
    check(batch)
    const { from, project, audience, proposals } = batch
    const at = new Date(clock.now()).toISOString()
    const shared = {
      ...{ captured: true, audience: 'private', work: 'none' },
      ...(project === null ? {} : { project }),
      ...(audience === null || audience === 'private' ? {} : { [APPROVED_AUDIENCE]: audience }),
    }
    // A review shows the newest first, so the first proposal is stored last.
    const records = proposals.toReversed().map(
      ({ key, kind, title, content, tags, metadata }): EntryRecord => ({
        ...{
          record: 'entry',
          id: `${ID_PREFIX}${key}`,
          thread_id: `learn:${from}`,
          source: 'agent',
          text: content,
          tags,
        },
        ...{ metadata: { ...metadata, ...shared, kind, title }, project: project ?? undefined, created_at: at },
        ...{ owner: caller.owner ?? undefined, audience: 'private', captured: true, links: [] },
      }),
    )
    const inside = new KnownIds()
    for (const record of records) inside.note(record)
    const report = { stored: 0, known: 0, dropped: 0 }
    const refused: ProposedReport['refused'][number][] = []
    for await (const { bytes } of writeVolumes({ store: `learn:${from}`, at }, records, inside)) {
      const { entries, problems } = await imports(caller, inOnePart(bytes), IMPORTED_ONCE)
      report.stored += entries.stored
      report.known += entries.unchanged
      report.dropped += entries.skipped
      for (const { id, message } of problems) refused.push({ key: String(id).slice(ID_PREFIX.length), message })
    }
    return { ...report, refused }
  }
}
