import { CHANGED_PARTS } from '../history/version'
import {
  anyObject,
  either,
  flag,
  integer,
  list,
  matching,
  number,
  object,
  optional,
  required,
  type Shaped,
  text,
  time,
  word,
} from './codec'

/**
 * The records of `commonplace/1` (docs/contracts/operate.md §2), with members in the order in which they are written.
 */
export const FORMAT = 'commonplace/1'
export const MAX_VOLUME_ENTRIES = 1_000
export const MAX_VOLUME_BYTES = 16_000_000

const sha256 = matching('64 lower-case hexadecimal digits', /^[0-9a-f]{64}$/)
/** The ID of an entry: a number in this database, or any string of another system. */
const id = either(matching('a non-empty string', /./s), integer(1), (value) => typeof value === 'string')
const image = object({
  sha256: required(sha256),
  mime_type: required(text),
  size: required(integer(0)),
  metadata: optional(either(text, anyObject, (value) => typeof value === 'string')),
})
const link = object({
  relation: required(text),
  to: required(id),
  origin: required(word('metadata', 'remember', 'system')),
})

const ENTRY = {
  id: required(id),
  thread_id: required(text),
  source: required(word('user', 'agent')),
  text: required(text),
  metadata: optional(anyObject),
  tags: optional(list(text)),
  images: optional(list(image)),
  project: optional(text),
  agent: optional(text),
  owner: optional(text),
  created_by: optional(text),
  imported_from: optional(text),
  created_at: optional(time),
  updated_at: optional(time),
  version: optional(integer(1)),
  changed_by: optional(text),
  changed_agent: optional(text),
  summary: optional(text),
  links: optional(list(link)),
  layer: optional(integer(1), 2),
  weight: optional(integer(1), 3),
  pinned: optional(flag),
  expires_at: optional(time),
  archived: optional(flag),
  captured: optional(flag),
  accessed_at: optional(time),
  access_count: optional(integer(0), 0),
  kind: optional(text),
  title: optional(text),
  domain: optional(text),
  audience: optional(text, 'org'),
  diary: optional(flag),
  status: optional(text),
  confidence: optional(number),
}

const ended = object({
  at: required(time),
  version: optional(integer(1)),
  by: optional(text),
  agent: optional(text),
  change_id: optional(text),
  changed: optional(list(word(...CHANGED_PARTS))),
  deleted: optional(flag),
})

const counts = object({
  manifest: optional(integer(0)),
  project: optional(integer(0), 0),
  image: optional(integer(0), 0),
  entry: optional(integer(0), 0),
  version: optional(integer(0), 0),
  vector: optional(integer(0), 0),
  gone: optional(integer(0), 0),
})

/** The shape of each record type. */
export const SHAPES = {
  manifest: {
    format: required(text),
    org: optional(text),
    store: required(text),
    at: required(time),
    cursor: optional(text),
    after: optional(text),
    project: optional(text),
    volume: required(integer(1)),
  },
  project: { id: required(text), name: optional(text), created_at: optional(time) },
  image: {
    sha256: required(sha256),
    mime_type: required(text),
    size: required(integer(0)),
    data: optional(text),
    missing: optional(flag),
  },
  entry: ENTRY,
  version: { ...ENTRY, ended: required(ended) },
  vector: {
    entry: required(id),
    model: required(text),
    chunk: required(integer(0)),
    start: required(integer(0)),
    length: required(integer(0)),
    data: required(matching('a scale, a colon and base64', /^[^:]+:[A-Za-z0-9+/]*={0,2}$/)),
  },
  gone: { id: required(id) },
  end: { counts: required(counts), content: required(sha256), next: optional(text), sha256: required(sha256) },
} as const

type RecordName = keyof typeof SHAPES
type Shapes = typeof SHAPES
/** One line of a volume, by record type. */
export type TransferRecord = {
  readonly [N in RecordName]: { readonly record: N } & Shaped<Shapes[N]>
}[RecordName]
export type RecordOf<N extends RecordName> = Extract<TransferRecord, { readonly record: N }>
export type EntryRecord = RecordOf<'entry'>
/** Records between manifest and end. */
export type CarriedRecord = Exclude<TransferRecord, { readonly record: 'manifest' | 'end' }>
/** An ID in a record. A number and a string with the same digits are the same ID. */
export type RecordId = EntryRecord['id']
export type Counts = RecordOf<'end'>['counts']

export const isRecordName = (value: unknown): value is RecordName =>
  typeof value === 'string' && Object.hasOwn(SHAPES, value)
