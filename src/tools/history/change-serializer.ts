import type { FeedChange } from '../../domain/history/feed'

/** An item of the feed, in a tool's answer and on the lines and events of HTTP: what is not there is left out. */
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
