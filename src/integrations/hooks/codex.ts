import type { HookClient } from '../../domain/capture/happening'
import { CLAUDE_ANSWERS, readEvent } from './claude-code'

/** Codex (developers.openai.com/codex/hooks): Claude Code's members, one event for tools whether they fail or not. */
export const codex: HookClient = {
  title: 'Codex',
  read: (event) => readEvent(event, 'unknown'),
  answer: CLAUDE_ANSWERS,
}
