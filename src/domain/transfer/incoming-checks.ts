import { MAX_IMAGES, type WriteLimits } from '../entry/draft'
import { type ImageRef, type ImageType, MEGABYTE } from '../entry/image'
import type { liftMetadata } from '../entry/lifted-metadata'
import { invalidInput, limitExceeded } from '../errors'
import { MAX_PROJECT } from '../identity/project'
import type { Scope } from '../identity/scope'
import { codePointLength, trim, unstorable } from '../text'
import type { Millis } from '../time'
import type { EntryRecord, RecordOf } from './records'

/** What a record must not hold to be taken in, beyond its schema. */

/** Whose import it is, and what a state may hold. */
export interface Intake {
  readonly scope: Scope
  readonly keyId: string
  /** When the file was made: what a source does not tell. */
  readonly at: number
  readonly now: Millis
  readonly limits: WriteLimits
  /** Whether the file is believed about who made what: ADMIN_TOKEN, and open mode without a key. */
  readonly isTrusted: boolean
}

/** Characters of names of keys, owners, agents and relations. */
const MAX_NAME = 256
const MAX_VERSION = 2_147_483_000
const MOST_LINKS = 10_000
const TYPES: readonly ImageType[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Strings that a database cannot hold, wherever they stand. */
function checkStrings(value: unknown, path = ''): void {
  if (typeof value === 'string') {
    const flaw = unstorable(value)
    if (flaw !== null) throw invalidInput(`${path} ${flaw}`)
  } else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) {
      checkStrings(key, path)
      checkStrings(member, path === '' ? key : path)
    }
}

function checkNames(record: EntryRecord | RecordOf<'version'>): void {
  const { project, agent, owner, created_by, imported_from, changed_by, changed_agent, links = [] } = record
  if (project !== undefined && codePointLength(project) > MAX_PROJECT)
    throw limitExceeded(`project is longer than ${MAX_PROJECT} characters`)
  for (const [name, value] of Object.entries({ agent, owner, created_by, imported_from, changed_by, changed_agent }))
    if (value !== undefined && codePointLength(value) > MAX_NAME)
      throw limitExceeded(`${name} is longer than ${MAX_NAME} characters`)
  // An entry is private to its owner, or to the key that made it, so without these names it could not be read at all.
  for (const [name, value] of Object.entries({ owner, created_by }))
    if (value !== undefined && trim(value) === '') throw invalidInput(`${name} is blank; leave it out`)
  if (links.length > MOST_LINKS) throw limitExceeded(`links has ${links.length} items; at most ${MOST_LINKS} are taken`)
  if (links.some(({ relation }) => trim(relation) === '' || codePointLength(relation) > MAX_NAME))
    throw invalidInput(`the relation of a link must have 1 to ${MAX_NAME} characters`)
}

export function imagesOf({ images = [] }: EntryRecord | RecordOf<'version'>, { limits }: Intake): ImageRef[] {
  if (images.length > MAX_IMAGES)
    throw limitExceeded(`images has ${images.length} items; at most ${MAX_IMAGES} are allowed`)
  return images.map(({ sha256, mime_type, size, metadata }) => {
    const mimeType = TYPES.find((known) => known === mime_type)
    if (mimeType === undefined) throw invalidInput(`image ${sha256} is not a PNG, JPEG, GIF or WebP image`)
    if (size > limits.each) throw limitExceeded(`image ${sha256} exceeds ${limits.each / MEGABYTE}MB limit`)
    return { hash: sha256, mimeType, size, ...(metadata === undefined ? {} : { metadata }) }
  })
}

/** What a database cannot hold, and names that are too long. */
export function checkWords(record: EntryRecord | RecordOf<'version'>): void {
  checkStrings(record)
  checkNames(record)
}

export function checkRanges({ layer = 2, weight = 3, version = 1 }: EntryRecord | RecordOf<'version'>): void {
  if (layer > 3) throw invalidInput('layer must be 1, 2 or 3')
  if (weight > 5) throw invalidInput('weight must be from 1 to 5')
  if (version > MAX_VERSION) throw limitExceeded(`version is above ${MAX_VERSION}`)
}

/** @throws Problem where a member says something else than the metadata do */
export function checkAgreement(
  record: EntryRecord | RecordOf<'version'>,
  lifted: ReturnType<typeof liftMetadata>,
): void {
  const against = (name: string, sent: unknown, there: unknown) => {
    throw invalidInput(
      `${name} ${JSON.stringify(sent)} stands against the metadata, which say ${JSON.stringify(there)}`,
    )
  }
  const { project, agent, audience, diary } = record
  if (project !== undefined && project !== lifted.project) against('project', project, lifted.project)
  if (agent !== undefined && agent !== lifted.agent) against('agent', agent, lifted.agent)
  if (audience !== undefined && audience !== lifted.audience) against('audience', audience, lifted.audience)
  if (diary === true && !lifted.diary) against('diary', diary, lifted.diary)
}

/** Owner and keys of a state: as the file names them where it is trusted; else the key that imports, with the names in the file. */
export function makersOf(record: EntryRecord | RecordOf<'version'>, { scope, keyId, isTrusted }: Intake) {
  const { owner: named, created_by: creator, imported_from: source = null, changed_by: changer = null } = record
  const owner = named ?? (creator === undefined ? scope.owner : null)
  if (isTrusted) return { owner, createdBy: creator ?? keyId, importedFrom: source, changedBy: changer }
  return {
    owner,
    createdBy: keyId,
    importedFrom: source ?? creator ?? null,
    changedBy: changer === null ? null : keyId,
  }
}
