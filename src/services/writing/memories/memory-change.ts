import { checkTags } from '../../../domain/entry/draft'
import type { Generated, Layer } from '../../../domain/entry/entry'
import type { EntryChange } from '../../../domain/entry/entry-write'
import type { Metadata } from '../../../domain/entry/metadata'
import { applyUpdates } from '../../../domain/entry/update'
import type { Caller } from '../../../domain/identity/scope'
import type { Memory } from '../../../domain/recall/memory'
import { keptMetadata, tagsOfMetadata } from '../../../domain/recall/metadata'

/** What an update asks for; absent parts stay as they are. */
export interface MemoryUpdate {
  readonly content?: string | undefined
  /** By top-level key: a value replaces, null removes. */
  readonly metadata?: Metadata | undefined
  readonly tags?: readonly string[] | undefined
  readonly weight?: number | undefined
  readonly pinned?: boolean | undefined
  /** The version that the caller has seen. */
  readonly expectedVersion?: number | undefined
}

/** The next state of a memory with the changes that an update asks for. */
export async function changeOf(
  caller: Caller,
  memory: Memory,
  update: MemoryUpdate,
  generateFor: (
    written: Pick<Memory, 'title' | 'text' | 'source'>,
    layer: Layer,
    summary?: string,
  ) => Promise<Generated>,
): Promise<EntryChange> {
  const { content, pinned, weight } = update
  const before = memory.metadata ?? {}
  const named = { ...(update.metadata ?? {}), ...(weight === undefined ? {} : { weight }) }
  const merged = keptMetadata(caller, before, named)
  // Metadata say it too, so that filters of every family find it, and no older value there contradicts the argument.
  if (pinned === true || (pinned === false && typeof merged.pinned === 'boolean')) merged.pinned = pinned
  const touched = update.metadata !== undefined || weight !== undefined || merged.pinned !== before.pinned
  const tags = update.tags ? checkTags(update.tags) : tagsOfMetadata(update.metadata ?? {})
  const change = await applyUpdates(caller, memory, [
    {
      id: memory.id,
      ...(content === undefined ? {} : { text: content }),
      ...(touched ? { merged } : {}),
      ...(tags === null ? {} : { tags }),
    },
  ])
  const life = pinned === undefined ? {} : { pinned }
  const isRewritten = content !== undefined && content !== memory.text
  const title = change.metadata ? change.metadata.lifted.title : memory.title
  const written = { title, text: content ?? memory.text, source: memory.source }
  const kept = isRewritten ? undefined : memory.summary
  return {
    ...change,
    life,
    ...(isRewritten || title !== memory.title ? { generated: await generateFor(written, memory.layer, kept) } : {}),
  }
}
