import { type JsonObject, own } from '../../domain/entry/metadata'
import type { Millis } from '../../domain/time'
import type { Row } from './sqlite-row'
import { isJsonObject, objectIn, RowProblem, stringsIn, textOf, timeOfNumber } from './values'

/** Converts a memory of any source format. */
export interface Memory {
  readonly id: string
  readonly layer: 2 | 3
  readonly type: string
  readonly content: string
  readonly metadata: JsonObject
  readonly tags: readonly string[]
  readonly createdAt: Millis
  readonly updatedAt: Millis
  readonly accessedAt: Millis | null
  readonly accessCount: number
  readonly pinned: boolean
  readonly supersedes: string | null
  readonly supersededBy: string | null
}

export function memoryOf(row: Row, layer: 2 | 3): Memory {
  const id = row.text('id')
  const content = row.text('content')
  if (id === null) throw new RowProblem('has no id')
  if (content === null) throw new RowProblem('content is empty')
  const accessed = row.number(layer === 3 ? 'accessed_at' : 'last_accessed_at')
  const createdAt = timeOfNumber(row.value('created_at'), 'ms', 'created_at')
  return {
    id,
    layer,
    type: row.text('type') ?? '',
    content,
    metadata: objectIn(row.text('metadata'), 'metadata') ?? {},
    tags: stringsIn(row.text('tags'), 'tags'),
    createdAt,
    updatedAt:
      row.number('updated_at') === null ? createdAt : timeOfNumber(row.value('updated_at'), 'ms', 'updated_at'),
    accessedAt: accessed === null ? null : timeOfNumber(accessed, 'ms', 'accessed_at'),
    accessCount: row.number('access_count') ?? 0,
    pinned: row.number('pinned') === 1,
    supersedes: row.text('supersedes_id'),
    supersededBy: row.text('superseded_by_id'),
  }
}

export function exportedOf(item: JsonObject): Memory {
  const id = textOf(own(item, 'id'))
  const content = textOf(own(item, 'content'))
  if (id === null) throw new RowProblem('it has no id')
  if (content === null) throw new RowProblem('it has no content')
  const { temporal, ...metadata } = objectIn(own(item, 'metadata'), 'metadata') ?? {}
  const supersession = isJsonObject(temporal) ? temporal : {}
  const createdAt = timeOfNumber(own(item, 'createdAt'), 'ms', 'createdAt')
  const updated = own(item, 'updatedAt')
  return {
    id,
    layer: item.layer === 3 ? 3 : 2,
    type: textOf(own(item, 'type')) ?? '',
    content,
    metadata,
    tags: stringsIn(own(item, 'tags'), 'tags'),
    createdAt,
    updatedAt: updated === undefined || updated === null ? createdAt : timeOfNumber(updated, 'ms', 'updatedAt'),
    accessedAt: null,
    accessCount: typeof item.accessCount === 'number' ? item.accessCount : 0,
    pinned: item.pinned === true,
    supersedes: textOf(supersession.supersedesId),
    supersededBy: textOf(supersession.supersededById),
  }
}
