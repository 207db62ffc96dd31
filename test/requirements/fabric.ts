/** Promises of fabric.md for the existing tools, one sentence each, by section; ids begin with f. */
export const FABRIC = {
  'f1-list': 'lists the fabric tools alone at /mcp/fabric, in the portable form, and calls them in both spellings',
  'f1-instructions': 'explains to a client with the fabric tools only when to call which of them',
  'f1-tokens': 'keeps the definitions of a fabric tool small',
  'f1-errors': 'answers failures as {error, code, details?} with the codes of the family',
  'f1-examples': 'shows valid examples in errors: each, sent instead, is accepted',
  'f6-days':
    'finds the same boundaries of days and weeks as a second library, where clocks change, by half hours, and where midnight or a day is left out',
  'f6-new-york':
    'starts a day at its first existing instant and ends it before the next one, on both days of clock changes',
  'f6-words': 'returns the time in words of its zone, named in any case or by an offset',
  'f6-expressions':
    'resolves every form of expression in the zone, ambiguous times to the earlier instant and skipped ones to the next',
  'f6-summary': 'sums up time, project, absence and what is new in a few sentences',
  'f6-wire': 'answers with time, resolved moment and conversions, each only when requested',
  'f6-refused':
    'reports every invalid zone and the forms of an expression at once, and then updates no last-seen marker',
  'f6-last-seen': 'stores the last visit by owner and project, updated only by a successful call',
  'f6-sessions':
    'counts from the last-seen marker of the session, else from the newest of that owner and agent, and does not count a call with a date as a visit',
  'f6-recent':
    'counts new memories in layers 2 and 3 of the project, or of all when none is named, and shows the newest ten, captured ones last',
  'f6-read': 'is open to readers, and writes no audit row, version or change',
  'f6-cost':
    'needs two round trips however many memories are new, none to resolve a date, and stores at most a thousand markers per owner',
  'f7-failed':
    'recognizes a failed command by its exit code only, and finds the line of its output that explains the failure',
  'f7-pattern': 'recognizes a problem by its error line without numbers, and by its file or command',
  'f7-counted':
    'counts a further report of an error in its memory, without a new version, also when many report at once',
  'f7-required': 'refuses an event whose required value is missing, blank or empty, and never writes "undefined"',
  'f7-paths': 'normalizes the spellings of a file path, also in its memories',
  'f7-table':
    'creates for each type of event the memories, layers, times to live, tags and actions that the page lists',
  'f7-secrets': 'removes secrets from every part of an event, also where a text is cut',
  'f7-kinds': 'removes secrets of every kind from settings, JSON, YAML, URLs, escaped and coloured logs',
  'f7-random': 'removes every random value of a listed form',
  'f7-look-alikes': 'does not remove text that only looks like a secret',
  'f7-redact': 'reports text that looks like a secret in a write of any family, or removes it with REDACT=always',
  'f7-wire': 'stores a report with its origin, session, client and time, and answers with every id',
  'f7-refused': 'reports all errors of an event at once, and then stores nothing',
  'f7-sizes': 'bounds a payload and the content of a file by their bytes',
  'f7-similar':
    'finds the fix of an error: entries with most of its line, of the project and of layer 3 of the project, captured errors last',
  'f7-file': 'indexes a file that was opened, without its secrets, and warns where it cannot',
  'f7-embedded': 'asks the embedder once for an event of a file, whose memory and code are embedded together',
  'f7-evicted': 'names the working memory that was evicted for an event',
  'f7-atomic': 'stores all memories of an event in one batch with one row in the audit log, or none',
  'f9-upload':
    'stores files, recognizes unchanged ones by their hash, replaces changed ones completely and removes deleted ones',
  'f9-skipped': 'skips binary, too large and misplaced files and reports why',
  'f9-paths': 'removes a leading project path',
  'f9-limits': 'refuses more than 200 files a call, and reports what is wrong with other bodies',
  'f9-routes': 'lists paths with hashes and empties a project',
  'f9-access': 'isolates code of other projects and orgs, and lets reader keys only read',
  'f9-status': 'reports how complete and fresh the index is, and for a project without code which others have some',
  'f9-symbol': 'finds symbols by five kinds of similarity of their names',
  'f9-symbol-order': 'orders symbols by score, kind, path and line',
  'f9-symbol-shape': 'shows a symbol with signature, its own lines and its comment',
  'f9-text': 'finds a literal part of a line in any case, the same case first, and shows the lines that contain it',
  'f9-text-words': 'finds all words within one chunk when the complete text is not found, and reports that',
  'f9-semantic': 'finds chunks by meaning from the threshold on, best first',
  'f9-content': 'returns content only on request, and the project only when none was named',
  'f9-room': 'answers within 2,500 tokens by default, in every mode, and cuts the longest contents to one length',
  'f9-roots':
    'separates files of several roots of one project, returns their roots, and lists and empties a single root',
  'f9-filters': 'filters by language in any spelling and by file pattern before ranking',
  'f9-fresh': 'finds a changed file by its new text only',
  'f9-projects': 'searches every open project when none is named',
  'f9-chunks':
    'cuts code into at most 100 lines and 4,000 characters, at symbols where possible, with ten lines of overlap',
  'f9-globs': 'reads globs: within a folder, across folders and none, one character, classes, alternatives, base names',
  'f9-languages': 'recognizes a language by its extension and by the usual short names',
  'f9-real': 'finds the symbols that the TypeScript compiler finds: names, kinds, first and last lines',
  'f9-tiers': 'finds symbols in Rust, Go, Java, C++, C# and Ruby',
  'f9-hostile': 'finds symbols in text that is not a program within bounded work',
  'f9-failing': 'refuses an upload whose vectors cannot be made, and stores nothing of it',
  'f9-most':
    'is stale a day after the last upload, and bounds the files of a project, the bytes of a call and the lines of a hit',
  'f9-deferred':
    'finds code by words at once when vectors are deferred, and by meaning when the schedule has made them',
  'f11-roots':
    'separates two folders of one project, and deletes nothing when most of the files are missing, except with --full',
  'f11-unread': 'reports unreadable files, continues, and deletes none of them',
  'f11-setup':
    "writes the entry into each client's own file, preserves the rest and saves a copy, and does nothing the second time",
  'f11-inline': 'replaces the entry however TOML writes it, in a table, on one line or dotted, and preserves the rest',
  'f11-links':
    'follows links, also to missing files, preserves modes, protects files with a key, and accepts opencode.jsonc',
  'f11-key': 'fills in the key where a client cannot read its environment, and nowhere else',
  'f11-unreadable': 'does not change a file that it cannot read, and reports that',
  'f11-print': 'only shows the entry with --print, and for clients without a file',
  'f11-index': 'sends all files except generated ones and ones with secrets, then only changes and deletions',
  'f11-git': 'sends in a work tree the files that git tracks or would add',
  'f11-watch': 'sends every change while it watches, also after the server was unavailable, and exits cleanly',
  'f11-exit': 'shows its progress, and exits with 0, with 1 on failure, with 2 on wrong usage',
  'f12-meaning': 'finds code by a question that shares no word with it, and nothing else',
  'f12-secrets': 'removes secrets from code before anything is stored and preserves its lines',
  'f10-preview': 'shows a snippet for each client of the list that parses and points at this server',
  'f10-result': 'writes nothing and returns the file, snippet and command to use',
  'f10-docker': 'returns the bridge in a container in the format of each client',
  'f10-url': 'accepts another server by its URL and warns of anything else',
  'f10-keys': 'names the environment variable of the key where clients can read it, and no key anywhere',
  'f1-annotations': 'marks reads as read-only and idempotent, changes as destructive, and nothing as open-world',
  'f1-memory': 'shows a memory with its metadata, their defaults, times in ISO and its id as a string',
  'f1-ids': 'accepts an id as string or number, and answers NOT_FOUND for an impossible one',
  'f1-unknown-keys': 'refuses unknown arguments, preserves unknown keys of metadata, and accepts JSON strings',
  'f1-project': 'treats a project as an opaque key without trailing slashes, the same in every family',
  'f1-isolation': 'hides layers 1 and 2 of a project from calls that name another, but not layer 3',
  'f1-narrowed': 'lets a narrowed key store and change in its own projects only, and read shared entries',
  'f1-threads': 'finds memories by the threads tools, and shows entries of threads as memories',
  'f2-router': 'chooses the layer by the first rule that matches',
  'f2-ttl': 'applies a ttl in layer 1 only, an hour when none is given, and warns in other layers',
  'f2-expiry': 'expires a working memory at its second, in every tool and count',
  'f2-capacity':
    'evicts the least recently used unpinned working memory beyond a thousand per project, captured ones first, and names it',
  'f2-vectors': 'stores in layers 1 and 2 without a working embedder, and refuses in layer 3, promotion included',
  'f2-decay':
    'archives an unused semantic memory once its score is below 0.2, exactly, unless pinned or stored for the user',
  'f2-archived': 'shows an archived memory by id only, and restores it with any update',
  'f2-daily': 'checks for decay once in each UTC day, however many days were missed',
  'f2-links': 'preserves links through promotions, by any author',
  'f2-promotion': 'promotes in one step to the requested layer and preserves the data of a memory',
  'f2-promotion-refused': 'refuses promotion to the present or a lower layer, and together with a change',
  'f3-store': 'stores verbatim and checks every known key of metadata',
  'f1-everywhere': 'accepts the project as an argument of every tool that has one, and refuses two that differ',
  'f1-wrong-project':
    'reports an invalid or wrong project next to the argument, with all other errors and a valid example, in every tool',
  'f3-part': 'returns a part of a content by code points, with the full length',
  'f3-lean': 'lists twenty memories within 2,500 tokens, and answers a store, an update and a delete within 250',
  'f3-equal': 'answers a store of an equal memory with its id, joins the tags and changes nothing else',
  'f3-together':
    'answers equal memories that are stored at once with one id, however many, joins the tags of each, and notes each in the audit log',
  'f3-get': 'counts a get as an access that changes nothing else and leaves no audit row',
  'f3-update': 'changes what an update names and nothing else, tags the same everywhere',
  'f3-update-refused': 'refuses updates without change, blank, contradicting, or of layer 1',
  'f3-update-race': 'loses no update of another key at the same time',
  'f3-delete': 'deletes permanently',
  'f3-list': 'lists newest first with true totals under type, tags and offset',
  'f3-counted':
    'lists and counts match the rows after any change: of layer, project, type, tags, reader, pin, end, archive or deletion',
  'f3-stats': 'counts layers, pinned ones and types of the project, and layer 3 of the org',
  'f1-interop':
    'finds by every word the entries of the threads tools with the same metadata, and vice versa, also after changes',
  'f4-wire': 'recalls memories with similarity, layer and matches, short, within one budget for all contents',
  'f4-arguments': 'refuses an invalid query, threshold, mode or filter',
  'f4-scores':
    'computes by one formula for each mode how similar a memory is in words and meaning, and which of them reach the threshold',
  'f4-share': 'weighs the part of a query in a memory by the rarity of its words',
  'f4-levels':
    'measures the similarity levels of an unknown model once, on included pairs, stores them, and gets the known levels for local',
  'f4-order':
    'orders like the searches, near-ties by weight, equal ones by age, newest first, and does not change the similarity',
  'f4-capped': 'returns 200 memories per retriever, in every mode, and reports when there were more',
  'f4-degraded': 'recalls by words when there are no vectors, and reports that; by meaning alone it is unavailable',
  'f4-access': 'writes nothing for a recall: being listed does not count as an access',
  'f2-home': 'ranks memories of other projects after those of this project, on every page',
  'f4-crowded':
    'recalls in three round trips in a project that is a small part of its org and has more vectors than are compared one by one',
  'f4-cost':
    'recalls in three round trips and one call of the embedder; a recall or list reads no more rows when other projects grow, nor a list when its own does',
  'f5-empty': 'returns nothing for the current context when nothing is stored, whatever is open or run',
  'f5-marks': 'orders relevant memories by file, name, command, session, freshness, kind and weight',
  'f5-working': 'shows the ten working memories of the project that matter most, until they expire',
  'f5-relevant':
    'selects relevant memories from the newest of layer 2, the most similar of both layers, and those about the open file',
  'f5-nearest':
    'finds similar memories of its project and of layer 3 however many of others are more similar, after moves and periods of invisibility',
  'f5-patterns': 'filters patterns by language and by file, its folder or extension, in any spelling of its path',
  'f5-once': 'shows a memory in one list only',
  'f5-opened':
    'names the three files that were opened last, also repeatedly, however many notes came since, and no other',
  'f5-hints': 'makes suggestions from the shown memories, in a fixed order, each with its kind and its start',
  'f5-errors':
    'calls a captured error an error, never a fix, and names the fix of a failing command before the number of failures',
  'f5-score':
    'orders memories by one score of file, name, place, session, freshness, weight and capture, and by id where it is equal',
  'f5-home': 'shows memories of other projects only in the current language and when similar',
  'f5-same': 'answers the same twice when nothing was stored in between',
  'f5-access': 'writes nothing for a getCurrent, and returns long texts completely',
  'f5-cost':
    'costs three round trips and one call of the embedder, and no more rows when other projects grow, or its own beyond some thousands',
  'f5-narrowed': 'shows a narrowed key its own projects and memories without a project',
  'f5-wire': 'returns five lists, with short memories and notes without a role, and ignores unknown arguments',
  'f8-summary':
    'replaces old memories of a project with one text, links it to them and archives them, in one commit with one audit row',
  'f8-candidates':
    'summarizes unpinned memories of the six types by all their kinds, of the requested layer, thread and age, and no existing summary',
  'f8-most': 'summarizes at most a thousand memories, the oldest first, and the others with the next call',
  'f8-nothing': 'writes nothing when nothing is old enough',
  'f8-race': 'summarizes the state at the time of the write, and changes nothing when it cannot',
  'f8-text':
    'starts a summary with counts and dates, then one line per memory, most valuable first and equal ones in one line, within its length',
  'f8-remaining':
    'archives and counts only memories with a line, lists and counts them as archived, and leaves the rest for the next call',
  'f8-wire': 'answers a summary with its id, count and text, and refuses invalid options',
  'f12-trips':
    'answers each of the twelve tools within three round trips of the database and one call of the embedder, two when a file is indexed after its memory',
  'f12-audit': 'names evicted memories in the audit row of the store that replaced them',
  'f12-projects':
    'never recalls layers 1 and 2 of another project, nor anything of a project that is closed to the key',
  'f12-sizes':
    'gives the same scores, unrelated queries, layers and pages with ten, a thousand and ten thousand memories',
  'f12-unrelated': 'finds nothing that is unrelated to the query at the default threshold, in every mode',
  'f12-layers':
    'returns layer 3 together with layer 2, each memory once, and with layer 3 alone uses the project it came from',
  'f12-pages': 'fills every page of a selective filter, counts exactly, and pages without duplicates or gaps',
  'f12-update': 'recalls a changed memory by its new text only, and a deleted or archived one not at all',
  'f12-day':
    'answers a working day of two agents within its sizes, with nothing of the other project, no text in a role, and the fix before the repetition',
  'f12-one-task':
    'lets two clients work on one task at once: each finds at once what the other stored, reported and opened',
  'f12-two-clients': 'stores fifty memories each of two clients at once, all of them, under different ids',
  'f12-one-commit': 'stores a memory in one commit, and every kind of read commits only its bookkeeping',
  'f2-embedded': 'makes new vectors when the content or title of a memory changes, and only then',
  'f12-tags': 'keeps tags of row, metadata, filter and threads search consistent after each change',
} as const

export type PromiseId = keyof typeof FABRIC

/** The sixteen guarantees of fabric.md §12, each with the promises that make it up. */
export const GUARANTEES: Readonly<Record<number, readonly [PromiseId, ...PromiseId[]]>> = {
  1: ['f1-isolation', 'f6-last-seen', 'f6-recent', 'f8-candidates', 'f12-projects', 'f9-access'],
  2: ['f12-two-clients', 'f12-one-task', 'f7-atomic', 'f2-vectors'],
  3: ['f4-scores', 'f4-share', 'f12-sizes'],
  4: ['f12-unrelated', 'f12-sizes'],
  5: ['f12-layers', 'f12-sizes'],
  6: ['f12-pages', 'f3-list', 'f3-counted', 'f12-sizes'],
  7: ['f3-update', 'f12-tags'],
  8: ['f2-promotion', 'f2-links'],
  9: ['f2-decay', 'f2-archived', 'f2-capacity', 'f4-access', 'f7-evicted', 'f8-summary', 'f8-remaining', 'f12-audit'],
  10: ['f12-update', 'f9-fresh', 'f2-embedded'],
  11: ['f3-get', 'f4-access', 'f6-read', 'f12-one-commit', 'f12-trips'],
  12: ['f6-days', 'f6-new-york', 'f6-words'],
  13: ['f5-patterns', 'f5-home', 'f5-score'],
  14: ['f12-meaning', 'f9-globs', 'f9-real'],
  15: ['f7-failed', 'f7-required', 'f7-secrets', 'f7-kinds', 'f7-random', 'f7-look-alikes', 'f12-secrets'],
  16: ['f2-capacity', 'f7-evicted'],
  18: ['f9-room', 'f12-day'],
  20: ['f11-roots', 'f11-unread', 'f9-roots'],
}

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${FABRIC[id]} [${id}]`
