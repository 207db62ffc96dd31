import { handOff } from './hand-off'
import type { Prompt } from './prompt'

/** Every prompt, in the order in which it is listed. */
const PROMPTS: readonly Prompt[] = [handOff]

/** The prompts that a client with these tools is offered. */
export const listPrompts = (tools: ReadonlySet<string>): Prompt[] =>
  PROMPTS.filter(({ needs }) => needs === null || tools.has(needs))
