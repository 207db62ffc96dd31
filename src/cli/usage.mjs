// What the command line can do, in words, and what is said of a call that is none of it.

const USAGE = `usage: commonplace <command>

 the server on this machine, of the package (in a checkout: npm start)
  start [--port N] [--ip ADDRESS] [--var NAME:VALUE]… [--env-file FILE]… [--persist-to FOLDER]
            serves until it is stopped; the same without a command. Data live in the user's data folder, or COMMONPLACE_DATA;
            settings come from .env there, the environment and --var. On PostgreSQL: STORAGE_BACKEND=postgresql and DATABASE_URL

 the memory, without a client [--url URL] [--json]
  remember TEXT… [--title T] [--kind K] [--project P] [--tags A,B] [--status S] [--audience org|project|private]
            stores a memory; "-" reads the text from standard input. Without --title its first sentence is the title
  search [TEXT…] [--project P] [--kind K,…] [--tags A,B] [--by AGENT] [--since WHEN] [--until WHEN] [--thread T] [--mode MODE] [--limit N]
            best matches first; without a text the newest. MODE is hybrid, words, meaning, exact or regex; WHEN is a date, yesterday, 3 days ago …
  context [GOAL…] [--project P] [--kind K,…] [--since WHEN] [--limit N] [--max-tokens N]
            what an agent with this goal gets; without a goal, the start of a session
  undo [ID]                      takes back the last change of this command line; with an ID, the last change of that memory
  open                           shows the dashboard in the browser

  service install [--port N] [--print]
            the server as a service of your session: systemd, launchd or a task of Windows; --print only shows the file
  service remove                 the data stay
  service status

 administration of a server [--url URL] [--org ORG] [--json]
  orgs list                      organizations that the credential sees
  orgs create ID [--name NAME]   with ADMIN_TOKEN only
  projects [list]                with their other names, entries and last use
  projects --forked              projects that are probably one, with the merges to confirm
  projects create ID [--name NAME]
  projects rename PROJECT --name NAME
  projects merge PROJECT --into PROJECT
                                 every name of the first means the second from then on; no entry is changed
  projects split NAME            a merged project, or a name, becomes a project of its own
  projects changes [--before N] [--limit N]
  projects undo CHANGE           of a rename, merge, split, or a name that a call has attached
  keys list
  keys create NAME [--role reader|writer|admin] [--project ID]… [--agent NAME] [--owner NAME] [--expires DATE]
                                 [--no-capture]: what hooks send with it is not captured
  keys revoke ID [--children]    and the keys that were made with it, and with those
  audit list [--after SEQ] [--limit N]
  reembed                        makes the vectors that are missing for the configured model, for instance after
                                 EMBEDDING_MODEL has changed; may be stopped and started again at any time

 what happens
  watch [--thread T] [--project P] [--after CURSOR] [--url URL] [--org ORG] [--json]
            prints each change of what the key may see, as it is made, until it is stopped; a lost connection is opened
            again and misses nothing. --after start begins with the oldest kept; --json prints one object a line

 for coding agents
  index [DIR] --project P [--root NAME] [--watch] [--full] [--url URL] [--json]
            sends what changed of a folder's files to the index of code, and what vanished: what git knows or would add,
            else all but what tools make; never what holds keys (.env*, *.pem, id_rsa*, .npmrc, credentials*, .ssh/ …). Of
            several repositories each is a root of its own, named by its origin. Where more than half of the known files
            are gone nothing is deleted, unless with --full, which begins anew
  stdio [--url URL]
            MCP over standard input and output, for clients that only start programs; the key comes from COMMONPLACE_KEY
  setup CLIENT [--url URL] [--docker] [--print] [--json]
            writes this server into the client's own file (a copy is kept as .bak), or only shows what it would write.
            CLIENT is opencode, claude, claude-code, kimi, codex, gemini, cursor, docker or generic
  setup CLIENT --capture [--url URL] [--json]
            installs the hooks by which sessions are captured and recalled, then asks the doctor. CLIENT is claude-code, codex,
            cursor, copilot, vscode or opencode; Codex is told to trust them as they are now
  doctor [CLIENT] [--url URL] [--check-updates] [--json]
            looks at server, key, model, clients' files and hooks: a line each, and what to do. It plays a recorded session through each
            installed hook, shows what was captured, and erases it; --check-updates asks the npm registry for a newer release
  status [--url URL] [--json]
            the server, whether hooks send to it, the role there, how many events wait, when it last answered

 the models that a server on this machine runs itself
  model list                     which there are, and which of them are here
  model pull [MODEL]             downloads one, or what is missing of it, into the user's cache folder (COMMONPLACE_MODELS names another);
                                 MODEL_URL names a mirror. Without a name: the one that is used where EMBEDDING_MODEL is not set
  model remove MODEL

 databases
  copy --org ORG --from BACKEND --to BACKEND [--state DIR] [--json]
            copies an org between D1 and PostgreSQL: entries with their IDs, states, links and vectors. Can be stopped
            and started again; compares both sides at the end. BACKEND is d1:local (of npm start, which must not
            run; --state for another folder than .wrangler/state), d1:<database id> (with CLOUDFLARE_ACCOUNT_ID and
            CLOUDFLARE_API_TOKEN) or postgresql://… (POSTGRESQL_SCHEMA). In open mode the org is "local"

  export --out F [--org ORG] [--project P] [--since CURSOR|FILE] [--history] [--vectors] [--no-images] [--gzip]
            an org as a file of volumes, of what the credential may read; ADMIN_TOKEN: whole. --since has only what changed behind
            an earlier export; a connection that breaks goes on behind the last whole volume. Verified when it is written
  export --format markdown --out DIR [--org ORG] [--project P] [--no-images] [--watch]
            each memory as a Markdown file with front matter and wiki links, in folders by project and kind; DIR is new, or of an
            earlier export, of which it changes what differs. Files that a person has edited stay as they are until they are
            imported: "import DIR" makes new versions of their memories. --watch goes on with each change, until it is stopped
  import F [--from SOURCE] [--on-conflict skip|replace|fail] [--dry-run] [--out V] [--project P] [--name NAME] [--prompts]
            takes a file of volumes, or what another system wrote, into the server. What came before is known: the same file again
            changes nothing. --dry-run only says what would be taken (with --url, also what the server would do with it); --out
            writes another system's file as volumes into V. SOURCE is mcp-context-server, context-fabric, server-memory,
            mcp-memory-service, basic-memory, markdown, chatgpt, claude, claude-mem, claude-code, codex or ndjson.
            --project is for what names none; F.map.json renames projects, and tells which id became which; --name stands for
            the path of F, by which a store is known again; --prompts takes the user's prompts too (claude-mem)
  backup --to r2|FOLDER [--org ORG]
            an org with its history as files of today, in the server's bucket of backups (ADMIN_TOKEN), or in a folder
  restore DAY --org ORG [--from r2|FOLDER] [--on-conflict skip|replace|fail]
            takes such files into a server, which may be empty; again, and it goes on where it stopped
  verify F [--json]
            checks a file of volumes to its end: every byte, count and hash

 this program
  completion SHELL               prints the completion script of bash, zsh or fish: eval "$(commonplace completion bash)"
  version [--json]               the same: --version

--json prints one answer for programs and no progress.
Exit codes: 0, 1 on failure, 2 on wrong usage, 3 when something was refused and the rest was taken.
The server: --url, COMMONPLACE_URL, ~/.commonplace/config.json, the server that runs here, http://localhost:8787, in this order.
The credential: COMMONPLACE_KEY, ADMIN_TOKEN, or the key that ~/.commonplace/config.json holds for that server.
Colors: in a terminal; NO_COLOR and FORCE_COLOR decide first.
ORG may be left out where the credential sees only one.`

const ALL = 'commonplace --help tells all commands and options.'

/** The lines that say how one command is called, or all that begin with its word. @param {string} words */
function linesOf(words) {
  const lines = USAGE.split('\n')
  return lines.flatMap((line, i) => {
    if (!`${line} `.startsWith(`  ${words} `)) return []
    const next = lines.findIndex((other, at) => at > i && !/^ {3}/.test(other))
    return lines.slice(i, next)
  })
}

/** The first command of the words, wherever options stand. @param {readonly string[]} args */
function linesFor(args) {
  const found = args.map((arg, i) =>
    [linesOf(args.slice(i, i + 2).join(' ')), linesOf(arg)].find(({ length }) => length),
  )
  return found.find((lines) => lines !== undefined)
}

/** How the commands that are named are called; without one, all of them. @param {readonly string[]} args */
export function help(args) {
  const lines = linesFor(args)
  return lines === undefined ? USAGE : `usage: commonplace\n${lines.join('\n')}\n\n${ALL}`
}

/**
 * Says what is wrong with a call, and how the command is called that was meant: short, so that the problem stays in sight.
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
