/** What fabric.md promises of the tools that exist, one sentence each, by section; ids begin with f. */
export const FABRIC = {
  'f1-list': 'lists the fabric tools alone at /mcp/fabric, in the portable form, and calls them in both spellings',
  'f1-tokens': 'keeps the definitions of a fabric tool small',
  'f1-errors': 'answers failures as {error, code, details?} with the codes of the family',
  'f6-days':
    'finds every boundary of days and weeks as a second library does, where clocks change, by half hours, and where midnight or a day is left out',
  'f6-new-york':
    'begins a day at its first existing instant and ends it before the next one, on both days of clock changes',
  'f6-words': 'tells the time in words of its zone, named in any case or by an offset',
  'f6-expressions':
    'resolves every form of expression in the zone, twice-told times to the earlier and skipped ones onward',
  'f6-summary': 'sums up time, project, absence and what is new in a few sentences',
  'f6-wire': 'answers with time, resolved moment and conversions, each only when asked for',
  'f6-refused': 'names every bad zone and the forms of an expression at once, and then leaves no mark',
  'f6-last-seen': 'keeps when somebody was last here by owner and project, moved only by a call that succeeded',
  'f6-recent':
    'counts what came since in layers 2 and 3 of the project, or of all when none is named, and shows the newest fifty',
  'f6-read': 'is open to readers, and leaves no audit row, version or change',
  'f6-cost': 'takes two round trips however much came since, and an owner keeps marks of a thousand projects',
  'f9-upload': 'stores files, knows unchanged ones by their hash, replaces changed ones whole and removes deleted ones',
  'f9-skipped': 'skips binary, too large and misplaced files and says why',
  'f9-paths': 'cuts a leading project path off',
  'f9-limits': 'refuses more than 200 files a call, and bodies of another shape by what is wrong',
  'f9-routes': 'lists paths with hashes and empties a project',
  'f9-access': 'keeps code of other projects and orgs apart, and lets readers read only',
  'f9-status': 'tells how complete and fresh the index is',
  'f9-symbol': 'finds symbols by five kinds of likeness of their names',
  'f9-symbol-order': 'orders symbols by score, kind, path and line',
  'f9-symbol-shape': 'shows a symbol with signature, its own lines and its comment',
  'f9-text': 'finds a literal part of a line in any case, the same case first, with the lines',
  'f9-text-words': 'finds all words within one chunk when the text is nowhere as a whole',
  'f9-semantic': 'finds chunks by meaning from the threshold on, best first',
  'f9-content': 'brings content only when asked, and the project only when none was named',
  'f9-filters': 'filters by language in any spelling and by file pattern before ranking',
  'f9-fresh': 'finds a changed file by its new text only',
  'f9-projects': 'searches every open project when none is named',
  'f12-secrets': 'takes secrets out of code before anything is stored and keeps its lines',
  'f10-preview': 'shows a snippet for each of the nine clients that parses and points at this server',
  'f10-result': 'writes nothing and says which file, snippet and command it would take',
  'f10-docker': 'gives the bridge in a container in the shape of each client',
  'f10-url': 'takes another server by its URL and warns of anything else',
  'f10-keys': 'names the environment variable of the key where clients can read it, and no key anywhere',
  'f1-annotations': 'marks reads as reading and idempotent, changes as destructive, and nothing as open to the world',
  'f1-memory': 'shows a memory with its metadata, their defaults, times in ISO and its id as a string',
  'f1-ids': 'takes an id as string or number, and answers NOT_FOUND for what can be none',
  'f1-unknown-keys': 'refuses unknown arguments, keeps unknown keys of metadata, and takes JSON strings',
  'f1-project': 'takes a project as an opaque key without trailing slashes, the same in every family',
  'f1-isolation': 'keeps layers 1 and 2 of a project from calls that name another, and layer 3 open to all',
  'f1-narrowed': 'lets a narrowed key store and change in its own projects only, and read what belongs to all',
  'f1-threads': 'finds memories by the threads tools, and shows entries of threads as memories',
  'f2-router': 'chooses the layer by the first rule that matches',
  'f2-ttl': 'keeps a ttl in layer 1 only, an hour when none is given, and warns elsewhere',
  'f2-expiry': 'ends a working memory at its second, in every tool and count',
  'f2-capacity': 'lets the least recently used unpinned working memory go beyond a thousand a project, and names it',
  'f2-vectors': 'stores in layers 1 and 2 without an embedder that answers, and refuses in layer 3, promotion included',
  'f2-decay': 'archives a semantic memory that nobody used once its vitality is below 0.2, exactly, unless pinned',
  'f2-archived': 'shows an archived memory by id alone, and brings it back with any update',
  'f2-daily': 'looks for decay once in each UTC day, however many days were missed',
  'f2-promotion': 'promotes in one step to the layer asked for and keeps what a memory has',
  'f2-promotion-refused': 'refuses promotion to the present or a lower layer, and together with a change',
  'f3-store': 'stores verbatim and checks every known key of metadata',
  'f3-get': 'counts a get as an access that changes nothing else and leaves no audit row',
  'f3-update': 'changes what an update names and nothing else, tags the same everywhere',
  'f3-update-refused': 'refuses updates without change, blank, contradicting, or of layer 1',
  'f3-update-race': 'loses no update of another key at the same time',
  'f3-delete': 'deletes once and for all',
  'f3-list': 'lists newest first with true totals under type, tags and offset',
  'f3-stats': 'counts layers, pinned ones and types of the project, and layer 3 of the org',
  'f1-interop':
    'finds by every word what the threads tools wrote with the same metadata, and the other way round, also after changes',
  'f4-wire': 'recalls memories with similarity, layer and what matched, as get shows them',
  'f4-arguments': 'refuses a query, threshold, mode or filter that is none',
  'f4-scores':
    'scores words by how much of the query they hold and how they rank, meaning by the cosine, and tells the larger',
  'f4-order':
    'orders by weight times similarity, where all is equal the newer first, and leaves the similarity as it is',
  'f4-capped': 'keeps 200 memories a leg, in every mode, and says when there were more',
  'f4-degraded': 'recalls by words when there are no vectors, and says so; by meaning alone it is unavailable',
  'f4-access': 'notes an access of each memory that a recall returned, once a call, and nothing else',
  'f4-cost':
    'recalls in three round trips and one call of the embedder, and reads no more rows when other projects grow',
  'f12-projects':
    'never recalls layers 1 and 2 of another project, nor anything of a project that is closed to the key',
  'f12-sizes':
    'scores the more relevant memory higher among ten memories as among a thousand, and finds a word that one holds',
  'f12-unrelated': 'finds nothing that is unrelated to the query at the default threshold, in every mode',
  'f12-layers':
    'lets layer 3 stand beside layer 2, each memory once, and with layer 3 alone means the project it came from',
  'f12-pages': 'starves no page of a selective filter, counts truly, and pages without doubles or gaps',
  'f12-update': 'recalls a changed memory by its new text only, and a deleted or archived one not at all',
  'f12-two-clients': 'stores fifty memories each of two clients at once, all of them, under ids of their own',
  'f12-tags': 'keeps tags of row, metadata, filter and threads search in step after each change',
} as const

export type PromiseId = keyof typeof FABRIC

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${FABRIC[id]} [${id}]`
