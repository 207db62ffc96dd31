import type { FeedChange } from '../../domain/history/feed'

/** Serializes a change for tools, HTTP lines and events; absent values are omitted. */
export const shownChange = (change: FeedChange): Record<string, unknown> => ({
  change_id: change.changeId,
  action: change.action,
  context_id: change.entryId,
  ...(change.threadId === null ? {} : { thread_id: change.threadId }),
  ...(change.project === null ? {} : { project: change.project }),
  version: change.version,
  at: new Date(change.at).toISOString(),
  ...(change.agent === null ? {} : { agent: change.agent }),
  ...(change.kind === null ? {} : { kind: change.kind }),
  preview: change.preview,
})
