// The usage text, and the message for a wrong call.

const USAGE = `usage: commonplace <command>

 the server on this machine, of the package (in a checkout: npm start)
  start [--port N] [--ip ADDRESS] [--var NAME:VALUE]… [--env-file FILE]… [--persist-to FOLDER]
            runs the server until it is stopped; this is the default command. Data is stored in the user's data folder, or COMMONPLACE_DATA;
            settings come from .env there, the environment and --var. On PostgreSQL: STORAGE_BACKEND=postgresql and DATABASE_URL

 store and find memories from the terminal [--url URL] [--json]
  remember TEXT… [--title T] [--kind K] [--project P] [--tags A,B] [--status S] [--audience org|project|private]
            stores a memory; "-" reads the text from standard input. Without --title its first sentence is the title
  search [TEXT…] [--project P] [--kind K,…] [--tags A,B] [--by AGENT] [--since WHEN] [--until WHEN] [--thread T] [--mode MODE] [--limit N]
            best matches first; without a text the newest. MODE is hybrid, words, meaning, exact or regex; WHEN is a date, yesterday, 3 days ago …
  context [GOAL…] [--project P] [--kind K,…] [--since WHEN] [--limit N] [--max-tokens N]
            what an agent with this goal gets; without a goal, the start of a session
  undo [ID]                      reverts the last change that this command line made; with an ID, the last change of that memory
  stale [--project P] [--limit N] [--after PAIR]
            pairs of memories on one subject, newest first: the later one may replace the earlier one.
            PAIR is in the last line of the output, if there are more
  stale replaces LATER EARLIER   settles a pair: the later memory replaces the earlier one
  stale both-hold LATER EARLIER  settles a pair: both hold. It is listed again only if one of their texts changes
  stale merge LATER EARLIER      settles a pair: one new memory with both texts replaces them
  why QUERY… ID [--tool context|search] [--project P] [--as-of WHEN] [options of the tool]
            explains why a call of context (default) or search did not return this memory
  test [FILE] [--junit OUT] [--pin]
            asks the questions of a file (memory.test.yaml) and checks which memories come back; exit code 1 if a test fails. --junit
            writes the result for CI; --pin writes the place and the hash of the text of each memory into the file
  open                           shows the dashboard in the browser

  service install [--port N] [--print]
            runs the server as a service of your session: systemd, launchd or a Windows task; --print only shows the file
  service remove                 does not delete the data
  service status

 administration of a server [--url URL] [--org ORG] [--json]
  orgs list                      organizations that the credential can see
  orgs create ID [--name NAME]   with ADMIN_TOKEN only
  projects [list]                with their other names, entries and last use
  projects --forked              duplicates: projects that are probably the same, with the commands to merge them
  projects create ID [--name NAME]
  projects rename PROJECT --name NAME
  projects merge PROJECT --into PROJECT
                                 from then on, every name of the first refers to the second; no memory is changed
  projects split NAME            makes a merged project, or a name, a separate project
  projects changes [--before CHANGE] [--limit N]
  projects undo CHANGE           undoes a rename, merge, split, or a name that a call attached
  keys list
  keys create NAME [--role reader|writer|admin] [--project ID]… [--agent NAME] [--owner NAME] [--email ADDRESS] [--expires DATE]
                                 --email ADDRESS: the verified holder of this address signs in to the dashboard as this key
                                 [--no-capture]: the server does not capture sessions that hooks send with this key
                                 [--rate-limit N] [--max-entries N]: limits of the key, as for keys limit
  keys limit ID [--rate-limit N|none] [--max-entries N|none]
                                 limits the requests of a key a minute, and the entries that it stores a day
  keys rotate ID [--grace HOURS] [--expires DATE]
                                 makes a key with the same rights; the old one is refused at once, or after the hours of --grace
  keys revoke ID [--children]    with --children also all keys that were made with it
  people leave NAME --to OTHER|--erase [--dry-run]
                                 revokes the keys of an owner, and hands private memories, diaries and sessions to another owner or erases
                                 them. Shared memories stay. --dry-run counts them; run the command again if it was interrupted
  people export NAME --out F [--no-images]
                                 writes everything that is stored of an owner: memories with history to F, the rest to F.person.json
  usage [--days N] [--by key|owner|project]
                                 calls, stored entries, tokens of answers and database rows of the last days (default 30)
  usage --cost [--org ORG]       estimated cost of this month at Cloudflare; with ADMIN_TOKEN and without --org, of all organizations
  audit list [--after SEQ] [--limit N]
  reembed                        makes missing vectors of the configured model, for instance after
                                 EMBEDDING_MODEL has changed; can be stopped and started again at any time

 changes
  watch [--thread T] [--project P] [--after CURSOR] [--url URL] [--org ORG] [--json]
            prints each change that the key can see, until it is stopped; a lost connection is reopened
            without missing a change. --after start begins with the oldest change; --json prints one object per line

 for coding agents
  index [DIR] --project P [--root NAME] [--watch] [--full] [--url URL] [--json]
            updates the code index with the changed and deleted files of a folder. In a git repository these are the files that are tracked
            or not ignored; elsewhere all files except generated ones. Files that may contain keys are never sent (.env*, *.pem,
            id_rsa*, .npmrc, credentials*, .ssh/ …). In a folder of several repositories each is a separate
            root, named by its origin. If more than half of the indexed files are missing, none is deleted from the index; --full deletes them and sends all files again
  check [FOLDER] [--project P] [--dry-run] [--url URL] [--json]
            compares the lines that memories cite (metadata.sources) with the working tree of a repository. Lines that moved are cited
            at their new place; memories whose source changed are marked until it is back. --dry-run stores nothing
  learn [FOLDER] [--project P] [--audience org|project] [--dry-run] [--url URL] [--json]
            reads the documents and the git history of a repository, without a model, and proposes up to 50 memories in its own words, with
            citations. They wait for your review; a repeated call proposes only what is new. --audience lets others read what
            you approve. --dry-run prints the proposals and needs no server
  stdio [--url URL]
            MCP over standard input and output, for clients that start a program instead of using a URL; reads the key from COMMONPLACE_KEY
  setup CLIENT [--url URL] [--docker] [--print] [--json]
            writes this server into the client's own file (a copy is saved as .bak); --print only shows the content.
            CLIENT is opencode, claude, claude-code, kimi, codex, gemini, cursor, vs-code, windsurf, zed, jetbrains, cline, docker or
            generic. --docker is for clients that connect through a bridge in a container
  setup CLIENT --capture [--url URL] [--json]
            installs the hooks that capture and recall sessions, then runs the doctor. CLIENT is claude-code, codex,
            cursor, copilot, vs-code or opencode; also makes Codex trust the hooks
  doctor [CLIENT] [--url URL] [--check-updates] [--json]
            checks server, key, model, clients' files and hooks: one line each, with a remedy. It replays a recorded session through each
            installed hook, shows the captured entry, and erases it; --check-updates asks the npm registry for a newer release
  status [--url URL] [--json]
            the server, the role of the key, how many events of hooks wait to be sent, and when the server last answered a hook
  statusline
            one line for the status line of Claude Code, which sends its session on standard input: memories shown and used, sessions
            that wait for review

 models that a server on this machine runs itself
  model list                     lists models, and which are downloaded
  model pull [MODEL]             downloads a model, or its missing files, into the user's cache folder (or COMMONPLACE_MODELS);
                                 MODEL_URL sets a mirror. Without MODEL, downloads the default model
  model remove MODEL

 databases
  copy --org ORG --from BACKEND --to BACKEND [--state DIR] [--json]
            copies an org between D1 and PostgreSQL: entries with their IDs, states, links and vectors. Can be stopped
            and started again; compares both sides at the end. BACKEND is d1:local (of npm start, which must not
            run; --state for another folder than .wrangler/state), d1:<database id> (with CLOUDFLARE_ACCOUNT_ID and
            CLOUDFLARE_API_TOKEN) or postgresql://… (POSTGRESQL_SCHEMA). On a server without keys ORG is "local"

  export --out F [--org ORG] [--project P] [--since CURSOR|FILE] [--history] [--vectors] [--no-images] [--gzip]
            writes the memories that the credential can read as a file of volumes (parts that can be checked one by one);
            ADMIN_TOKEN reads all. --since writes only changes after an earlier export. A broken connection is resumed after the last complete volume. The file is verified
  export --format markdown --out DIR [--org ORG] [--project P] [--no-images] [--watch]
            writes each memory as a Markdown file with front matter and wiki links, in folders by project and kind. DIR is new, or of an
            earlier export, which is updated. Edited files are not changed until you import them:
            "import DIR" makes new versions of their memories. --watch updates the folder until it is stopped
  import F [--from SOURCE] [--on-conflict skip|replace|fail] [--dry-run] [--out V] [--project P] [--name NAME] [--prompts]
            imports a file of volumes, or data of another system, into the server. Entries are recognized: importing the same file again
            changes nothing. --dry-run only shows what would be imported (with --url, also what the server would do); --out
            converts another system's file to the volume file V. SOURCE is mcp-context-server, context-fabric, server-memory,
            mcp-memory-service, basic-memory, markdown, chatgpt, claude, claude-mem, claude-code, codex or ndjson.
            --project sets the project of entries without one; --name replaces the path of F as the name that identifies the store; --prompts
            imports the user's prompts too (claude-mem). The import writes the new IDs to F.map.json; to rename projects, write them there first
  backup --to r2|FOLDER [--org ORG]
            saves an organization with its history as files named after today's date, in the server's backup bucket (ADMIN_TOKEN) or in a folder
  restore DAY --org ORG [--from r2|FOLDER] [--on-conflict skip|replace|fail] [--report URL]
            imports the files of a backup of that day into a server, which may be empty; run it again to continue where it stopped.
            --report records the result as a restore drill at the server that made the backup (its ADMIN_TOKEN must be the same)
  verify F [--json]
            checks a complete file of volumes: every byte, count and hash

 this program
  completion SHELL               prints the completion script of bash, zsh or fish: eval "$(commonplace completion bash)"
  version [--json]               prints the version, as --version does

--json prints one JSON answer and no progress.
Exit codes: 0, 1 on failure, 2 on wrong usage, 3 when something was refused and the rest was done.
The server is the first of these that exists: --url, COMMONPLACE_URL, ~/.commonplace/config.json, the running server of this folder,
http://localhost:8787.
The credential is COMMONPLACE_KEY, ADMIN_TOKEN, or the key that ~/.commonplace/config.json holds for that server.
Colors: in a terminal; NO_COLOR and FORCE_COLOR decide first.
ORG can be omitted if the credential can see only one.`

const ALL = 'commonplace --help lists all commands and options.'

/** Returns the usage of one command, or of all commands that start with a word. @param {string} words */
function linesOf(words) {
  const lines = USAGE.split('\n')
  return lines.flatMap((line, i) => {
    if (!`${line} `.startsWith(`  ${words} `)) return []
    const next = lines.findIndex((other, at) => at > i && !/^ {3}/.test(other))
    return lines.slice(i, next)
  })
}

/** Returns the usage of the first command in the words, wherever options are. @param {readonly string[]} args */
function linesFor(args) {
  const found = args.map((arg, i) =>
    [linesOf(args.slice(i, i + 2).join(' ')), linesOf(arg)].find(({ length }) => length),
  )
  return found.find((lines) => lines !== undefined)
}

/** Returns the usage of the named commands; without one, of all. @param {readonly string[]} args */
export function help(args) {
  const lines = linesFor(args)
  return lines === undefined ? USAGE : `usage: commonplace\n${lines.join('\n')}\n\n${ALL}`
}

/**
 * Reports a wrong call with the usage of the command that was meant: short, so that the problem stays visible.
 *
 * @param {string} problem @param {readonly string[]} args what was called
 * @returns {never}
 */
export function refuse(problem, args) {
  const names = new Set([...USAGE.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name))
  const known = linesFor(args) !== undefined
  const how = known ? help(args) : `usage: commonplace <command>, one of ${[...names].join(', ')}\n\n${ALL}`
  console.error(`${problem}\n\n${how}`)
  process.exit(2)
}
