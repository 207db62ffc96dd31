/** What fabric.md promises of the tools that exist, one sentence each, by section; ids begin with f. */
export const FABRIC = {
  'f1-list': 'lists the fabric tools alone at /mcp/fabric, in the portable form, and calls them in both spellings',
  'f1-tokens': 'keeps the definitions of a fabric tool small',
  'f1-errors': 'answers failures as {error, code, details?} with the codes of the family',
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
} as const

export type PromiseId = keyof typeof FABRIC

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${FABRIC[id]} [${id}]`
