import { invalidInput } from '../../domain/errors'
import type { ToolContext } from '../context'

/** What a prompt is made with. */
interface PromptContext extends ToolContext {
  /** Names of the tools that the asking client has, as they are listed. */
  readonly tools: ReadonlySet<string>
}

/** A text that a person picks in a client, to be sent to the model (packs contract, "Prompts and resources"). */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[]
  /** The tool that it stands for, without which it is not offered; null for none. */
  readonly needs: string | null
  /** The message. Blank arguments are absent. @throws Problem */
  readonly text: (context: PromptContext, args: Readonly<Record<string, string | undefined>>) => Promise<string>
}

/** Clients send the fields of a form that nobody filled in as empty strings. */
const given = (args: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value.trim() !== ''))

/** The message of a prompt. @throws Problem for an argument that is missing or unknown */
export async function promptText(
  prompt: Prompt,
  context: PromptContext,
  args: Readonly<Record<string, string>>,
): Promise<string> {
  const names = prompt.arguments.map(({ name }) => name)
  const unknown = Object.keys(args).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown argument "${unknown.slice(0, 100)}". Allowed: ${names.join(', ')}`)
  const filled = given(args)
  const missing = prompt.arguments.find(({ name, required }) => required && !Object.hasOwn(filled, name))
  if (missing !== undefined) throw invalidInput(`${missing.name} is required`)
  return prompt.text(context, filled)
}
