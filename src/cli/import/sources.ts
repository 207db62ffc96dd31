// Lists the systems that can be imported, with their readers.
import { readBasicMemory } from './basic-memory'
import { readChatGpt } from './chatgpt'
import { readClaudeChats } from './claude-chats'
import { readClaudeCode } from './claude-code'
import { readClaudeMem } from './claude-mem'
import { readCodex } from './codex'
import type { Collector } from './collector'
import { readContextFabric } from './context-fabric'
import { readMarkdown } from './markdown'
import { readPgDump, readSqlite } from './mcp-context-server'
import { readMemoryService } from './mcp-memory-service'
import { readNdjson } from './ndjson'
import type { Projects } from './records'
import { readServerMemory } from './server-memory'

export interface ReadOptions {
  readonly projects: Projects
  /** Includes the user's prompts, where a source stores them separately. */
  readonly prompts: boolean
}

type Read = (path: string, options: ReadOptions) => Promise<Collector>

const READERS: Readonly<Record<string, Read>> = {
  'mcp-context-server': (path) => (/\.(sql|dump|txt)$/i.test(path) ? readPgDump(path) : readSqlite(path)),
  'context-fabric': readContextFabric,
  'server-memory': readServerMemory,
  'mcp-memory-service': readMemoryService,
  'basic-memory': readBasicMemory,
  markdown: readMarkdown,
  chatgpt: readChatGpt,
  claude: readClaudeChats,
  'claude-mem': (path, { prompts }) => readClaudeMem(path, { prompts }),
  'claude-code': (path, { projects }) =>
    readClaudeCode(path, (folder) => projects.map.get(folder) ?? projects.otherwise),
  codex: readCodex,
  ndjson: readNdjson,
}

export const SOURCES = Object.keys(READERS)

/** @param source one of SOURCES @throws SourceProblem if nothing of it can be read */
export async function readSource(source: string, path: string, options: ReadOptions): Promise<Collector> {
  const read = READERS[source]
  if (read === undefined) throw new RangeError(`unknown source: ${source}`)
  return read(path, options)
}
