import { handOff } from './hand-off'
import type { Prompt } from './prompt'
import { startSession } from './start-session'

/** Every prompt, in the order in which it is listed. */
const PROMPTS: readonly Prompt[] = [startSession, handOff]

/** The prompts that a client with these tools is offered. */
export const listPrompts = (tools: ReadonlySet<string>): Prompt[] =>
  PROMPTS.filter(({ needs }) => needs === null || tools.has(needs))
