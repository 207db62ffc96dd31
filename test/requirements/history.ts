/** Promises of the history contract, by section; each is the title of the test that proves it. */
export const HISTORY = {
  'h1-conflict': 'refuses a change of an entry with another version than expected, and reports the current one',
  'h1-race': 'accepts exactly one of several calls with the same expected version',
  'h2-replay': 'answers a repeated call with the same key like the first time, and does nothing',
  'h2-every-tool': 'accepts a key on every tool that writes, and on no other',
  'h2-other-call': 'refuses a key that belongs to another call, and stores no receipt of a failed call',
  'h2-at-once': 'gives concurrent calls with one key one effect and one answer',
  'h2-lost-answer': 'answers again when the server died between the write and its answer',
  'h2-died':
    'repeats the first answer of every tool that writes, equal in every field, when the server died right after the write',
  'h2-credentials': 'separates the keys of different credentials',
  'h3-versions':
    'lists the versions of an entry, newest first, with what changed and by whom, and returns one completely',
  'h3-steps': 'retains a state for each of several updates of one entry in a batch, without a gap',
  'h4-instants': 'returns one instant of a change, in the feed and in history, deletions included',
  'h3-diff': 'shows what changed in a text, within bounds for any texts',
  'h3-sight': 'shows an old state only to those who could see it',
  'h3-as-of': 'returns entries as they were at an instant, and refuses one before the retained history',
  'h3-restore': 'restores deleted entries under their ids, found by the next search in all modes',
  'h3-restore-found':
    'is found, with all of a restoration of short entries, in every server from its commit on, also when the call is repeated',
  'h3-parts':
    'retains the state before each change of text, metadata, tags, images and kind, with its author, in the form that was read then',
  'h3-images': 'shows the images of an old state only to those who could see that state',
  'h3-readers': 'lets reader keys read history, and only writer keys restore',
  'h3-restore-links': 'restores links to existing entries, by any author',
  'h3-nothing-kept': 'retains no changes by reads, summaries and vectors',
  'h2-hours':
    'answers under a key for its hours to the millisecond, and then runs the call again, whether the schedule ran or not',
  'h3-purged': 'has no data of a deleted entry after the retention time of versions',
  'h3-restore-version': 'makes an older version the newest one',
  'h3-undo': 'undoes all that one call has deleted, by its change_id',
  'h3-restore-late': 'restores nothing over entries that were restored and deleted again since they were read',
  'h3-undo-thousand': 'undoes a call that deleted a thousand and more, a thousand at a time, in few statements',
  'h3-restore-refused': 'reports what cannot be restored and why, and refuses arguments that exclude each other',
  'h3-dry-run': 'reports what a delete would delete without deleting it',
  'h3-erase-unseen': 'erases entries that were deleted while unlisted, for those who could read them by id',
  'h3-erase-beside': 'erases vectors, and queues images for removal that no entry or retained state uses any more',
  'h3-erase-last': 'erases by the visibility at the last deletion, not at one before a restoration',
  'h3-erase-told': 'stores no answer about an entry that was erased during the call',
  'h3-erase-thread': 'erases archived and deleted entries of a thread, reports how many of each, and counts the rest',
  'h3-erase-unfinished': 'erases entries of a delete that died before it had removed them',
  'h3-erase': 'erases for good: no history, no restoration, no replay, no image',
  'h3-retention': 'deletes expired versions and receipts by the schedule, in bounded steps',
  'h5-random':
    'loses and doubles nothing while eight clients write and repeat calls, answers are dropped and the server is killed, and lists every change',
  'h5-off': 'retains nothing and costs nothing with HISTORY_DAYS 0',
  'h5-cost': 'adds to a write one row of history, one of changes and one receipt, in the same round trip',
  'h5-keyed-cost':
    'stores a receipt with the complete answer in the round trip of its write, and checks first only if a repetition would be expensive',
  'h3-statistics': 'counts retained versions for those who may see them, and returns them in no list or search',
  'h4-shape': 'answers list_changes with the documented shape, and only a cursor when no after is given',
  'h4-order': 'lists each change once, in the order of commits and without gaps, during concurrent writes',
  'h4-limit': 'cuts the feed into pages of a limit, and reports when that was above its maximum',
  'h4-filters':
    'lists changes of one thread, one project or some actions only, including entries that entered or left them',
  'h4-sight': 'shows of each change what its reader could see at the time, and nothing else',
  'h4-diary': 'never lists diary pages',
  'h4-preview': 'shows the start of a text as long as its reader sees the entry, and nothing of a deleted one',
  'h4-erased': 'shows of erased entries only id, action and time, and to no filter',
  'h4-cursor': 'encrypts cursors so that two of one position differ and none is valid for another org',
  'h4-stale': 'refuses an expired cursor, and explains how to start again',
  'h4-wait': 'waits for a change, and answers as soon as there is one, else empty at the end',
  'h4-unrung': 'notices a change within fifteen seconds without a notification, and polls at most every five',
  'h4-lines': 'answers a page of lines over HTTP, whose headers have the next cursor',
  'h4-http-refused':
    'refuses the feed over HTTP to those of other orgs and without one, and each wrong parameter by name',
  'h4-stream': 'streams changes as events, and resumes after the last one without losses or duplicates',
  'h4-comment': 'sends a comment on a silent stream every fifteen seconds, and moves its cursor with it',
  'h4-restored':
    'reports a restored deletion as stored, an older version as updated, and of erased ones only the erasure',
  'h4-stream-ends': 'ends the streams of a revoked key, and lets a key open ten at a time',
  'h4-watch': 'prints changes as they happen, and continues after the server was killed',
  'h4-listen-at-once': 'notifies listeners as soon as a commit is published, without a delay',
  'h4-listen': 'notifies listeners of changed resources that they may see, and of no others',
  'h5-list-plus-feed': 'gives the current lists when the feed is applied to an earlier listing',
  'h5-life':
    'reports expired or archived entries as deleted, and restored ones as stored, when the schedule processes them',
  'h5-page-cost': 'reads a page of the feed in one round trip, whatever other orgs contain',
} as const

export type PromiseId = keyof typeof HISTORY

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${HISTORY[id]} [${id}]`
