import type { HookClient } from '../../domain/capture/happening'
import { claudeCode, generic } from './claude-code'
import { codex } from './codex'
import { copilot } from './copilot'
import { cursor } from './cursor'
import { opencode } from './opencode'
import { vscode } from './vscode'

/** The clients whose hooks are understood, by their names in paths. */
const CLIENTS: ReadonlyMap<string, HookClient> = new Map(
  Object.entries({ 'claude-code': claudeCode, codex, cursor, copilot, vscode, opencode, generic }),
)

export const CLIENT_NAMES: readonly string[] = [...CLIENTS.keys()]

/** Null for a name that is none. */
export const hookClient = (name: string): HookClient | null => CLIENTS.get(name) ?? null
