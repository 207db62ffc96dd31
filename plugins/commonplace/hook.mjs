// main.mjs
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

// events.mjs
import { createHash } from "node:crypto";
var isFields = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var jsonIn = (text) => JSON.parse(text.replace(/^\uFEFF/, ""));
var textOf = (fields, ...names) => names.map((name) => fields?.[name]).find((value) => typeof value === "string" && value !== "");
function clientOf(argument, event, env) {
  if (env.CURSOR_VERSION) return "cursor";
  if (env.COPILOT_CLI) return "copilot";
  const isVsCode = argument === "claude-code" && event.timestamp !== void 0 && event.permission_mode === void 0;
  return isVsCode ? "vscode" : argument;
}
var KINDS = {
  sessionstart: "start",
  "session.created": "start",
  userpromptsubmit: "prompt",
  userpromptsubmitted: "prompt",
  beforesubmitprompt: "prompt",
  "chat.message": "prompt",
  posttooluse: "tool",
  posttoolusefailure: "tool",
  aftershellexecution: "tool",
  afterfileedit: "tool",
  "tool.execute.after": "tool"
};
var nameOf = (event) => textOf(event, "hook_event_name", "hookEventName", "hook") ?? "";
var kindOf = (event) => KINDS[nameOf(event).toLowerCase()] ?? "other";
var CHANGES = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i;
var RUNS = /bash|shell|terminal|exec|command|run|cmd/i;
var runsCommands = (tool) => RUNS.test(tool);
var toolOf = (event) => textOf(event, "tool_name", "toolName") ?? textOf(event.input, "tool") ?? "";
function isWorkOf(event) {
  if (/^after(Shell|File)/.test(nameOf(event))) return true;
  const tool = toolOf(event);
  return !/^mcp(__|_|:)/i.test(tool) && (CHANGES.test(tool) || RUNS.test(tool));
}
var sessionOf = (client, event) => (client === "cursor" ? textOf(event, "conversation_id", "session_id") : textOf(event, "session_id", "sessionId", "conversation_id")) ?? textOf(event.session, "id") ?? "";
var OF_CURSOR = {
  SessionStart: "sessionStart",
  UserPromptSubmit: "beforeSubmitPrompt",
  PostToolUse: "postToolUse",
  PostToolUseFailure: "postToolUseFailure",
  PreCompact: "preCompact",
  Stop: "stop",
  SessionEnd: "sessionEnd"
};
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isFields(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}
function idOf(client, event) {
  const given2 = nameOf(event);
  const name = client === "cursor" ? OF_CURSOR[given2] ?? given2 : given2;
  const kind = kindOf(event);
  const call = kind === "tool" ? textOf(event, "tool_use_id", "toolUseId") ?? textOf(event.input, "callID") : void 0;
  const prompt = kind === "prompt" ? textOf(event, "prompt_id", "turn_id", "generation_id") ?? textOf(event.input, "messageID") ?? textOf(event.output?.message, "id") : void 0;
  const rest = call ?? prompt ?? canonical({ ...event, hook_event_name: name });
  return createHash("sha256").update(JSON.stringify([sessionOf(client, event), name, rest])).digest("hex");
}

// send.mjs
var MOST_EVENTS = 200;
var MOST_BYTES = 262144;
var LARGEST_ANSWER = 1048576;
var NoAnswer = class extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
};
async function post(url, { key, body, until, headers = {} }) {
  const { request } = await (url.startsWith("https:") ? import("node:https") : import("node:http"));
  return new Promise((resolve2, reject) => {
    const fail = (message) => {
      clearTimeout(timer);
      sent.destroy();
      reject(new NoAnswer(message));
    };
    const timer = setTimeout(() => fail("no answer in time"), Math.max(0, until - Date.now()));
    const sent = request(url, {
      method: "POST",
      agent: false,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...key === "" ? {} : { authorization: `Bearer ${key}` },
        ...headers
      }
    });
    sent.on("error", (error) => fail(error.message));
    sent.on("response", (response) => {
      const pieces = [];
      let size = 0;
      response.on("data", (piece) => {
        pieces.push(piece);
        size += piece.length;
        if (size > LARGEST_ANSWER) fail("its answer is too long");
      });
      response.on("error", (error) => fail(error.message));
      response.on("aborted", () => fail("its answer broke off"));
      response.on("end", () => {
        clearTimeout(timer);
        if (!response.complete) return fail("its answer broke off");
        const type = String(response.headers["content-type"] ?? "");
        resolve2({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8"), type });
      });
    });
    sent.end(body);
  });
}
function readAnswer(text) {
  try {
    const answer = JSON.parse(text);
    return isFields(answer) && typeof answer.stored === "number" ? answer : null;
  } catch {
    return null;
  }
}
function batchOf(spool, names) {
  const batch = [];
  let bytes = 100;
  for (const name of names) {
    const record = spool.read(name);
    if (record === null) continue;
    const size = Buffer.byteLength(JSON.stringify(record)) + 1;
    const isOther = batch.length > 0 && batch[0].record.client !== record.client;
    if (isOther || batch.length === MOST_EVENTS || batch.length > 0 && bytes + size > MOST_BYTES) break;
    batch.push({ name, record });
    bytes += size;
  }
  return batch;
}
function senderTo({ spool, url, key, until }) {
  let told = Math.min(spool.state().toldLost ?? 0, spool.lost());
  let hasAnswered = false;
  async function ask(records, answer) {
    const lost = spool.lost();
    const events = records.map(({ id, at, event, place }) => ({ id, at, event, place }));
    const body = JSON.stringify({
      events,
      ...answer ? { answer } : {},
      ...lost > told ? { lost: lost - told } : {}
    });
    const { status, text } = await post(`${url}/api/v1/hooks/${records[0].client}`, { key, body, until });
    if (status === 400 || status === 413) return null;
    if (status < 200 || status > 299) throw new NoAnswer(`it answered ${status}`, status);
    const read2 = readAnswer(text);
    if (read2 === null) throw new NoAnswer("what it answered is none of ours");
    told = lost;
    hasAnswered = true;
    return read2;
  }
  async function deliver(batch) {
    const answer = await ask(batch.map(({ record }) => record));
    if (answer !== null) for (const { name } of batch) spool.remove(name);
    else if (batch.length === 1) spool.lose(batch[0].name);
    else {
      const middle = Math.ceil(batch.length / 2);
      await deliver(batch.slice(0, middle));
      await deliver(batch.slice(middle));
    }
    return answer;
  }
  return {
    ask,
    /** All that waits, oldest first, until the time is up. @returns what the server had to say */
    async waiting() {
      let notice;
      for (; ; ) {
        const batch = batchOf(spool, spool.names());
        if (batch.length === 0) return notice;
        notice = (await deliver(batch))?.notice ?? notice;
      }
    },
    /** How many lost events the server knows of. */
    told: () => told,
    /** Whether it answered at all: then what is not sent in time waits, and nobody is to be told that it is away. */
    hasAnswered: () => hasAnswered
  };
}

// settings.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
var DEFAULT_URL = "http://localhost:8787";
var given = (value) => typeof value === "string" && !value.includes("${") ? value.trim() : "";
function serverOf(text) {
  try {
    const url = new URL(text);
    if (!/^https?:$/.test(url.protocol)) return null;
    return `${url.origin}${url.pathname.replace(/\/mcp(\/.*)?$/, "").replace(/\/+$/, "")}`;
  } catch {
    return null;
  }
}
function configured(home) {
  try {
    const config = jsonIn(readFileSync(join(home, ".commonplace", "config.json"), "utf8"));
    return [config?.url, config?.key];
  } catch {
    return [];
  }
}
var CALLED = { plugin: "the plugin's url", variable: "COMMONPLACE_URL", file: "~/.commonplace/config.json" };
function settingsOf(env, home) {
  const places = {
    plugin: () => [env.CLAUDE_PLUGIN_OPTION_URL, env.CLAUDE_PLUGIN_OPTION_KEY],
    variable: () => [env.COMMONPLACE_URL, env.COMMONPLACE_KEY],
    file: () => configured(home)
  };
  let flaw = null;
  for (const [from, place] of Object.entries(places)) {
    const [named, key] = place();
    const url = serverOf(given(named));
    if (url !== null) return { url, key: given(key).replace(/^Bearer\s*/i, ""), from, flaw };
    if (given(named) !== "") flaw ??= `${CALLED[from]} is no URL that begins with http:// or https://`;
  }
  return { url: DEFAULT_URL, key: "", from: "default", flaw };
}

// bridge.mjs
var LONGEST_CALL_MS = 6e4;
var LONGEST_LIST_MS = 5e3;
var VERSION = "2025-06-18";
var VERSIONS = [VERSION, "2025-11-25", "2025-03-26", "2024-11-05"];
function messageIn({ text, type }) {
  if (!type.includes("text/event-stream")) return objectIn(text);
  const data = text.split(/\r?\n\r?\n/).flatMap((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
  });
  return objectIn(data.at(-1) ?? "");
}
function objectIn(text) {
  try {
    const value = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
async function bridge({ env, home, input, write }) {
  const { url, key } = settingsOf(env, home);
  const open = /* @__PURE__ */ new Set();
  let version = VERSION;
  const say = (message) => write(`${JSON.stringify(message)}
`);
  const refuse = (id, code, message, data) => say({ jsonrpc: "2.0", id, error: { code, message, data } });
  async function forward(message) {
    try {
      const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": version };
      const until = Date.now() + (message.method === "tools/call" ? LONGEST_CALL_MS : LONGEST_LIST_MS);
      const answer = await post(`${url}/mcp/core`, { key, body: JSON.stringify(message), until, headers });
      if (message.id === void 0) return;
      if (answer.status === 401 || answer.status === 403) return refuse(message.id, -32001, `${url} refuses the key`);
      const said = messageIn(answer);
      if (said?.id === message.id) return say(said);
      const { message: why = `${url} answered ${answer.status}`, data } = isFields(said?.error) ? said.error : {};
      refuse(message.id, -32e3, why, data);
    } catch (error) {
      if (message.id !== void 0) refuse(message.id, -32e3, `no answer from ${url}: ${error.message}`);
    }
  }
  function take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return refuse(null, -32700, "no JSON");
    }
    if (!isFields(message)) return refuse(null, -32600, "no request");
    if (message.method === "initialize") {
      const offered = message.params?.protocolVersion;
      version = VERSIONS.includes(offered) ? offered : VERSION;
      const serverInfo = { name: "commonplace", version: "1.0.0-rc.1" };
      return say({
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo }
      });
    }
    if (message.method === "ping") return say({ jsonrpc: "2.0", id: message.id, result: {} });
    if (typeof message.method !== "string" || message.method.startsWith("notifications/")) return;
    const work = forward(message).finally(() => open.delete(work));
    open.add(work);
  }
  let rest = "";
  input.setEncoding("utf8");
  for await (const piece of input) {
    const lines = `${rest}${piece}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") take(line);
  }
  if (rest.trim() !== "") take(rest);
  await Promise.all(open);
}

// clean.mjs
var LONGEST_TEXT = 4e3;
var LONGEST_OUTPUT = 500;
var MOST_ITEMS = 200;
var DEEPEST = 8;
var LARGEST_EVENT = 65536;
var MARKS = ["private", "commonplace-memory"].map((name) => new RegExp(`<(/?)${name}(?:\\s[^<>]*)?>`, "gi"));
function withoutMarked(text) {
  return MARKS.reduce((rest, mark) => {
    if (!rest.includes("<")) return rest;
    let [kept, depth, from] = ["", 0, 0];
    for (const match of rest.matchAll(mark)) {
      if (depth === 0) kept += rest.slice(from, match.index);
      depth = match[1] === "" ? depth + 1 : Math.max(0, depth - 1);
      from = match.index + match[0].length;
    }
    return depth === 0 ? kept + rest.slice(from) : kept;
  }, text);
}
var CUT_WORD = /[!-~]{1,512}$/;
function first(text, length) {
  if (text.length <= length) return text;
  const begin = text.slice(0, length);
  const whole = /[!-~]/.test(text[length]) ? begin.replace(CUT_WORD, "") : begin;
  return (whole || begin).replace(/[\uD800-\uDBFF]$/, "");
}
var last = (text, length) => text.slice(-length).replace(/^[\uDC00-\uDFFF]/, "");
var cleanText = (text, length = LONGEST_TEXT) => first(withoutMarked(text), length);
var TELLS_CODE = /^.*(?:\bexit code\b|\bexited with\b|\bexit status\b|\bcommand not found\b).*$/im;
function endOf(output) {
  const text = withoutMarked(output);
  if (text.length <= LONGEST_OUTPUT) return text;
  const head = TELLS_CODE.exec(text.slice(0, -LONGEST_OUTPUT))?.[0] ?? "";
  return `${head === "" ? "" : `${first(head.trim(), 200)}
`}${last(text, LONGEST_OUTPUT)}`;
}
var NAMES_FILE = /^(?:\*\*\* (?:Begin Patch|End Patch|Add File: |Update File: |Delete File: |Move to: )|\+\+\+ )/;
var isPatch = (text) => /^\*\*\* Begin Patch/m.test(text) || /^(?:diff --git|--- \S)/m.test(text);
var filesOfPatch = (patch) => cleanText(
  patch.split("\n").filter((line) => NAMES_FILE.test(line)).join("\n")
);
function commandText(command) {
  if (!isPatch(command)) return cleanText(command);
  const begin = /^\*\*\* Begin Patch/.test(command) ? "" : `${cleanText(command.split("\n", 1)[0] ?? "", 200)}
`;
  return `${begin}${filesOfPatch(command)}`;
}
var PATHS = ["file_path", "filePath", "notebook_path", "path", "target_file", "targetFile"];
var PATCHES = ["patch", "patchText", "input"];
var COMMANDS = ["command", "cmd"];
var LISTS = ["files", "edits", "replacements"];
function toolInput(given2) {
  if (typeof given2 === "string") {
    try {
      return toolInput(JSON.parse(given2));
    } catch {
      return isPatch(given2) ? { input: filesOfPatch(given2) } : {};
    }
  }
  if (!isFields(given2)) return {};
  const kept = PATHS.flatMap((name) => textOf(given2, name) ? [[name, cleanText(given2[name])]] : []);
  for (const name of PATCHES) if (textOf(given2, name)) kept.push([name, filesOfPatch(given2[name])]);
  for (const name of COMMANDS) {
    const command = given2[name];
    if (typeof command === "string") kept.push([name, commandText(command)]);
    if (Array.isArray(command))
      kept.push([
        name,
        command.slice(0, MOST_ITEMS).flatMap((part) => typeof part === "string" ? [commandText(part)] : [])
      ]);
  }
  for (const name of LISTS)
    if (Array.isArray(given2[name])) kept.push([name, given2[name].slice(0, MOST_ITEMS).filter(isFields).map(toolInput)]);
  return Object.fromEntries(kept);
}
var CODES = ["exit_code", "exitCode", "exit", "returncode", "code", "interrupted", "result_type", "resultType"];
var OUTPUTS = [
  "output",
  "stdout",
  "stderr",
  "text",
  "content",
  "aggregated_output",
  "text_result_for_llm",
  "textResultForLlm"
];
function toolResponse(given2, isCommand) {
  if (typeof given2 === "string") return isCommand ? endOf(given2) : "";
  if (Array.isArray(given2))
    return isCommand ? endOf(given2.flatMap((part) => textOf(part, "text") ?? []).join("\n")) : "";
  if (!isFields(given2)) return given2 === null || given2 === void 0 ? given2 : {};
  const codes = CODES.flatMap(
    (name) => ["string", "number", "boolean"].includes(typeof given2[name]) ? [[name, shorten(given2[name], 100)]] : []
  );
  const outputs = isCommand ? OUTPUTS.flatMap((name) => textOf(given2, name) ? [[name, endOf(given2[name])]] : []) : [];
  const metadata = isFields(given2.metadata) ? [["metadata", toolResponse(given2.metadata, isCommand)]] : [];
  return Object.fromEntries([...codes, ...outputs, ...metadata]);
}
function shorten(value, length, depth = 0) {
  if (typeof value === "string") return cleanText(value, length);
  if (value === null || typeof value !== "object") return value;
  if (depth === DEEPEST) return null;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => shorten(item, length, depth + 1));
  const members = Object.entries(value).slice(0, MOST_ITEMS);
  return Object.fromEntries(members.map(([name, member2]) => [first(name, 200), shorten(member2, length, depth + 1)]));
}
var INPUTS = ["tool_input", "toolInput", "toolArgs", "tool_args"];
var RESPONSES = ["tool_response", "tool_output", "tool_result", "toolResult", "error"];
var UNREAD = /* @__PURE__ */ new Set([
  "user_email",
  "attachments",
  "transcript_path",
  "agent_transcript_path",
  "transcriptPath",
  "background_tasks"
]);
function member(name, value, isTool, isCommand) {
  if (!isTool) return value;
  if (INPUTS.includes(name) || name === "args") return toolInput(value);
  if (RESPONSES.includes(name)) return toolResponse(value, isCommand);
  return ["edits", "output", "content", "command"].includes(name) ? ownMember(name, value) : value;
}
function ownMember(name, value) {
  if (name === "edits" || name === "content") return [];
  if (typeof value !== "string") return [];
  return name === "command" ? commandText(value) : endOf(value);
}
function cleanOpenCode(event, isTool, isCommand) {
  const { input, output } = event;
  const told = isFields(input) && isTool ? { ...input, args: toolInput(input.args) } : input;
  const parts = Array.isArray(output?.parts) ? [
    {
      type: "text",
      text: output.parts.filter((part) => part?.type === "text" && part.synthetic !== true && typeof part.text === "string").map(({ text }) => text).join("\n")
    }
  ] : void 0;
  const answered = isTool ? toolResponse(output, isCommand) : parts === void 0 ? output : { parts };
  return { hook: event.hook, input: told, output: answered, session: event.session };
}
function cleanEvent(event) {
  const isTool = kindOf(event) === "tool" && isWorkOf(event);
  const isCommand = isTool && (runsCommands(toolOf(event)) || event.hook_event_name === "afterShellExecution");
  const known = event.hook === void 0 ? Object.fromEntries(
    Object.entries(event).filter(([name]) => !UNREAD.has(name)).map(([name, value]) => [name, member(name, value, isTool, isCommand)])
  ) : cleanOpenCode(event, isTool, isCommand);
  const sizes = [LONGEST_TEXT, 500, 100];
  const fitting = sizes.map((length) => shorten(known, length)).find((made) => Buffer.byteLength(JSON.stringify(made)) <= LARGEST_EVENT);
  return fitting ?? Object.fromEntries(Object.entries(shorten(known, 100)).filter(([, value]) => typeof value === "string"));
}

// place.mjs
import { readFileSync as readFileSync2, statSync } from "node:fs";
import { basename, dirname, join as join2, resolve } from "node:path";
var read = (file) => {
  try {
    return readFileSync2(file, "utf8");
  } catch {
    return null;
  }
};
var isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
function repositoryOf(folder) {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const git = join2(at, ".git");
    if (isFolder(git)) return { root: at, own: at, git, common: git };
    const linked = /^gitdir: *(.+)$/m.exec(read(git) ?? "")?.[1];
    if (linked !== void 0) {
      const own = resolve(at, linked.trim());
      const shared = read(join2(own, "commondir"));
      const common = shared === null ? own : resolve(own, shared.trim());
      const root = shared === null ? at : basename(common).startsWith(".") ? dirname(common) : common.replace(/\.git$/, "");
      return { root, own: at, git: own, common };
    }
    if (dirname(at) === at) return null;
  }
}
var unquoted = (text) => text.trim().replace(/^"(.*)"$/, "$1").replace(/\\(["\\])/g, "$1");
function withoutUser(remote) {
  if (!remote.includes("://")) return remote.replace(/^[^/:]*@(?=[^/]*:)/, "");
  return remote.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1").replace(/[?#].*$/s, "");
}
function remoteOf(config) {
  const found = /* @__PURE__ */ new Map();
  let name = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\]/.exec(line);
    if (header !== null) name = header[1].toLowerCase() === "remote" ? header[2] ?? null : null;
    const url = /^\s*url\s*=\s*(.+)$/i.exec(line)?.[1];
    if (name !== null && url !== void 0 && !found.has(name)) found.set(name, withoutUser(unquoted(url)));
  }
  return found.get("origin") ?? [...found.values()][0];
}
var RECALLS = ["all", "start", "off"];
function wishesIn(folder) {
  try {
    return readFileSync2(join2(folder, ".commonplace.json"), "utf8");
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(error.code) ? null : "";
  }
}
function wishesOf(folders) {
  const text = folders.map(wishesIn).find((found) => found !== null);
  if (text === void 0) return {};
  try {
    const wishes = jsonIn(text);
    if (isFields(wishes)) return wishes;
  } catch {
  }
  return { capture: false, isUnreadable: true };
}
function placeOf(event, env, home) {
  const given2 = textOf(event, "cwd") ?? event.workspace_roots?.find?.((root) => typeof root === "string") ?? textOf(event.session, "directory");
  const started = env.CLAUDE_PROJECT_DIR || process.cwd();
  const repository = repositoryOf(given2 ?? started);
  const folder = repository?.root ?? resolve(env.CLAUDE_PROJECT_DIR || given2 || started);
  const wishes = wishesOf(repository === null ? [folder] : [repository.own, repository.root]);
  const remote = repository === null ? void 0 : remoteOf(read(join2(repository.common, "config")) ?? "");
  const branch = repository === null ? void 0 : /^ref: refs\/heads\/(.+)$/m.exec(read(join2(repository.git, "HEAD")) ?? "")?.[1];
  const place = {
    folder: folder === resolve(home) ? "/" : folder,
    ...remote === void 0 ? {} : { remote },
    ...branch === void 0 ? {} : { branch: branch.trim() },
    ...textOf(wishes, "project") === void 0 ? {} : { project: wishes.project },
    ...wishes.audience === "project" ? { audience: "project" } : {},
    ...wishes.capture === false ? { capture: false } : {}
  };
  return {
    place,
    recall: RECALLS.includes(wishes.recall) ? wishes.recall : "all",
    isUnreadable: wishes.isUnreadable === true
  };
}

// spool.mjs
import * as fs from "node:fs";
import { join as join3 } from "node:path";
var MOST_EVENTS2 = 2e3;
var MOST_BYTES2 = 8 * 1048576;
var LONGEST_WAIT_MS = 6 * 864e5;
var OLDEST_LOCK_MS = 1e4;
var OLDEST_DRAFT_MS = 6e4;
var NAME = /^\d{13}-[0-9a-f]{64}\.json$/;
var folderOf = (home) => join3(home, ".commonplace");
function writeWhole(file, text) {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.draft`;
  fs.writeFileSync(draft, text, { mode: 384 });
  fs.renameSync(draft, file);
  return true;
}
var quietly = (work, otherwise) => {
  try {
    return work();
  } catch {
    return otherwise;
  }
};
function openSpool(home) {
  const own = folderOf(home);
  const folder = join3(own, "spool");
  const [lock, lostFile, stateFile] = ["sender.lock", "lost", "state.json"].map((name) => join3(own, name));
  quietly(() => fs.mkdirSync(folder, { recursive: true, mode: 448 }));
  const filesIn = (where) => quietly(() => fs.readdirSync(where), []);
  const names = () => filesIn(folder).filter((name) => NAME.test(name)).sort();
  const remove = (name) => quietly(() => fs.rmSync(join3(folder, name), { force: true }));
  const read2 = (name) => quietly(() => JSON.parse(fs.readFileSync(join3(folder, name), "utf8")), null);
  const lose = (name) => {
    quietly(() => fs.appendFileSync(lostFile, `${name.slice(14, 78)}
`, { mode: 384 }));
    remove(name);
  };
  const lostIds = () => new Set(
    quietly(() => fs.readFileSync(lostFile, "utf8"), "").split("\n").filter(Boolean)
  );
  const bound = (now) => {
    const all = names();
    const old = all.filter((name) => Number(name.slice(0, 13)) < now - LONGEST_WAIT_MS);
    for (const name of old) lose(name);
    const waiting = all.slice(old.length);
    if (waiting.length * LARGEST_EVENT <= MOST_BYTES2) return;
    const sizes = new Map(
      waiting.map((name) => [name, fs.statSync(join3(folder, name), { throwIfNoEntry: false })?.size ?? 0])
    );
    let [count, bytes] = [waiting.length, [...sizes.values()].reduce((sum, size) => sum + size, 0)];
    if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES2) return;
    const isTool = new Map(waiting.map((name) => [name, kindOf(read2(name)?.event ?? {}) === "tool"]));
    for (const name of [...waiting.filter((one) => isTool.get(one)), ...waiting.filter((one) => !isTool.get(one))]) {
      if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES2) return;
      lose(name);
      count--;
      bytes -= sizes.get(name);
    }
  };
  return {
    names,
    read: read2,
    remove,
    lose,
    bound,
    lost: () => lostIds().size,
    /** @returns the name of its file; that of the one that waits already, where two hooks tell of one event; null where none can be written */
    put(record) {
      const all = names();
      const there = all.find((name2) => name2.includes(record.id));
      if (there !== void 0) return there;
      const name = `${String(record.at).padStart(13, "0")}-${record.id}.json`;
      if (!quietly(() => writeWhole(join3(folder, name), JSON.stringify(record)), false)) return null;
      if (all.length * LARGEST_EVENT >= MOST_BYTES2) bound(record.at);
      return name;
    },
    /** What is remembered of the server: when it last answered, since when not, and why. */
    state: () => quietly(() => JSON.parse(fs.readFileSync(stateFile, "utf8")), {}),
    remember: (state) => quietly(() => writeWhole(stateFile, JSON.stringify(state))),
    /** Once a server and the person know of what was lost. */
    forgetLost: () => quietly(() => fs.rmSync(lostFile, { force: true })),
    /** Drafts of programs that were killed. */
    sweep(now) {
      for (const [where, name] of [folder, own].flatMap((at) => filesIn(at).map((one) => [at, one])))
        if (name.endsWith(".draft") && (fs.statSync(join3(where, name), { throwIfNoEntry: false })?.mtimeMs ?? now) < now - OLDEST_DRAFT_MS)
          fs.rmSync(join3(where, name), { force: true });
    },
    /** @returns {(() => void) | null} how to let it go; null while another sends */
    takeLock(now) {
      const mine = `${process.pid} ${now} ${Math.random()}`;
      const take = () => quietly(() => {
        fs.writeFileSync(lock, mine, { flag: "wx", mode: 384 });
        return () => {
          if (quietly(() => fs.readFileSync(lock, "utf8"), "") === mine) fs.rmSync(lock, { force: true });
        };
      }, null);
      const taken = take();
      if (taken !== null) return taken;
      const held = quietly(() => fs.readFileSync(lock, "utf8"), "");
      const since = Number(held.split(" ")[1]) || (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now);
      if (Math.abs(now - since) < OLDEST_LOCK_MS && isAlive(Number(held.split(" ")[0]))) return null;
      const aside = `${lock}.${process.pid}.draft`;
      quietly(() => fs.renameSync(lock, aside), null);
      if (!fs.existsSync(aside)) return null;
      if (quietly(() => fs.readFileSync(aside, "utf8"), "") !== held) quietly(() => fs.linkSync(aside, lock), null);
      fs.rmSync(aside, { force: true });
      return take();
    }
  };
}
function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

// run.mjs
var LONGEST_MS = { start: 2e3, prompt: 2e3, other: 1e3 };
var NEVER = ["decision", "continue", "stopReason"];
var clock = (ms) => new Date(ms).toTimeString().slice(0, 5);
var counted = (count) => `${count} ${count === 1 ? "event waits" : "events wait"}`;
function messageOf({ url, flaw, state, waiting, lost, isOff, isUnreadable, unwritten, notice }) {
  const said = [];
  if (flaw !== null) said.push(`${flaw}, so ${url} is asked`);
  if (state.status === 401 || state.status === 403) said.push(`${url} refuses the key, ${counted(waiting)}`);
  else if (state.failedSince !== void 0)
    said.push(`no answer from ${url} since ${clock(state.failedSince)}, ${counted(waiting)}`);
  if (isUnreadable) said.push(".commonplace.json cannot be read as a JSON object: nothing is captured here");
  else if (isOff) said.push("capture is off here (.commonplace.json)");
  if (unwritten !== null) said.push(`${unwritten} cannot be written: uses of tools are lost`);
  if (lost > 0) said.push(`${lost} ${lost === 1 ? "event was" : "events were"} lost`);
  if (typeof notice === "string" && notice !== "") said.push(notice.replace(/\s+/g, " ").slice(0, 500));
  return said.length === 0 ? null : `commonplace: ${said.join("; ")}`;
}
var allowed = (output) => isFields(output) ? Object.fromEntries(Object.entries(output).filter(([name]) => !NEVER.includes(name))) : null;
function nextState(spool, error, toldLost) {
  const before = spool.state();
  const now = Date.now();
  const state = error === null ? { answeredAt: now, toldLost } : {
    toldLost,
    ...before.answeredAt === void 0 ? {} : { answeredAt: before.answeredAt },
    failedSince: before.failedSince ?? now,
    ...error.status === void 0 ? {} : { status: error.status }
  };
  const isSame = error !== null && before.failedSince === state.failedSince && before.status === state.status;
  if (!isSame) spool.remember(state);
  return state;
}
async function handle(argument, event, { env, home }) {
  const client = clientOf(argument, event, env);
  const kind = kindOf(event);
  const nothing = { client, kind, output: null, message: null };
  if (nameOf(event) === "" || kind === "tool" && !isWorkOf(event)) return nothing;
  const at = Date.now();
  const until = at + (LONGEST_MS[kind] ?? 0);
  const { place, recall, isUnreadable } = placeOf(event, env, home);
  const isOff = place.capture === false;
  const asks = kind === "start" ? recall !== "off" : kind === "prompt" && recall === "all";
  const isAsked = asks && !(client === "cursor" && kind === "prompt");
  const spool = openSpool(home);
  const record = { client, id: idOf(client, event), at, event: cleanEvent(event), place };
  if (isOff && kind !== "start" && !isAsked) return nothing;
  const name = isOff ? null : spool.put(record);
  const isUnwritten = !isOff && name === null;
  if (kind === "tool") return nothing;
  const { url, key, flaw } = settingsOf(env, home);
  const sender = senderTo({ spool, url, key, until });
  const lost = spool.lost();
  let [output, notice, error] = [null, void 0, null];
  try {
    if (isAsked || isUnwritten || name !== null && (kind === "start" || kind === "prompt")) {
      const answer = await sender.ask([record], isAsked ? record.id : void 0);
      if (name !== null) answer === null ? spool.lose(name) : spool.remove(name);
      output = allowed(answer?.output);
      notice = answer?.notice;
    }
    const release = spool.takeLock(Date.now());
    try {
      if (release !== null) {
        spool.bound(at);
        spool.sweep(at);
        notice = await sender.waiting() ?? notice;
      }
    } finally {
      release?.();
    }
  } catch (problem) {
    if (!(problem instanceof NoAnswer)) throw problem;
    error = sender.hasAnswered() && problem.status === void 0 ? null : problem;
  }
  const state = nextState(spool, error, sender.told());
  if (kind !== "start") return { ...nothing, output };
  const unwritten = isUnwritten ? folderOf(home) : null;
  const message = messageOf({
    url,
    flaw,
    state,
    waiting: spool.names().length,
    lost,
    isOff,
    isUnreadable,
    unwritten,
    notice
  });
  if (error === null && sender.told() >= lost && lost > 0) {
    spool.forgetLost();
    spool.remember({ ...state, toldLost: 0 });
  }
  return { ...nothing, output, message };
}
function printed({ client, kind, output, message }) {
  if (kind !== "start" && kind !== "prompt") return { out: "", err: "" };
  const line = (value) => `${JSON.stringify(value)}
`;
  if (client === "cursor") {
    const answer2 = kind === "prompt" ? {} : output;
    return { out: answer2 === null ? "" : line(answer2), err: message === null ? "" : `${message}
` };
  }
  if (client === "copilot") {
    const progress = message === null ? "" : line({ type: "progress", message });
    return { out: kind === "prompt" ? "" : progress + (output === null ? "" : line(output)), err: "" };
  }
  const answer = message === null ? output : { systemMessage: message, ...output };
  return { out: answer === null ? "" : line(answer), err: "" };
}

// main.mjs
var LONGEST_RUN_MS = 2500;
async function hook(argument, around) {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const piece of process.stdin) text += piece;
  const event = jsonIn(text);
  if (!isFields(event)) return;
  const { out, err } = printed(await handle(argument, event, around));
  if (err !== "") process.stderr.write(err);
  if (out !== "") await new Promise((resolve2) => process.stdout.write(out, resolve2));
}
async function main() {
  const argument = process.argv[2] ?? "generic";
  const around = { env: process.env, home: homedir() };
  if (argument === "mcp") {
    await bridge({ ...around, input: process.stdin, write: (line) => process.stdout.write(line) });
    return process.stdout.write("", () => process.exit(0));
  }
  setTimeout(() => process.exit(0), LONGEST_RUN_MS).unref();
  try {
    await hook(argument, around);
  } catch (error) {
    process.stderr.write(`commonplace: ${error.message}
`);
  }
  process.exit(0);
}
function isProgram() {
  try {
    return realpathSync(process.argv[1] ?? "") === realpathSync(fileURLToPath(import.meta.url));
  } catch {
    return false;
  }
}
if (isProgram()) void main();
export {
  handle
};
