import type { HookClient } from '../../domain/capture/happening'
import { CLAUDE_ANSWERS, readEvent } from './claude-code'

/** Agents of VS Code (code.visualstudio.com/docs/agent-customization/hooks): Claude Code's names, paths as `filePath`. */
export const vscode: HookClient = {
  title: 'VS Code',
  read: (event) => readEvent(event, 'unknown'),
  answer: { ...CLAUDE_ANSWERS, prompt: () => null },
}
