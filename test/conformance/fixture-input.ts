import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ENUMS, WITH_DEFAULTS } from './fixture-forms'
import { text } from './samples'

/** Protects what a client carries from one round to the next. The key guards nothing: this Worker is never deployed. */
export const stateCodec = createRequestStateCodec<{ step: number }>({ key: 'only-for-the-conformance-suite!!' })

const NAME = z.object({ name: z.string() })
const OK = z.object({ ok: z.boolean() })
const COLOR = z.object({ color: z.string() })
const CONTEXT = z.object({ context: z.string() })

const ask = (message: string, requestedSchema: z.ZodObject) => inputRequired.elicit({ message, requestedSchema })

const askModel = (question: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens: 100 })

const done = (words: string) => ({ content: [text(words)] })

/** Asks until every question has an answer of any kind. */
function asking(requests: InputRequests, state?: () => Promise<string>) {
  return async (ctx: ServerContext) => {
    const answers = Object.keys(requests).map((key) => inputResponse(ctx.mcpReq.inputResponses, key))
    if (answers.every(({ kind }) => kind !== 'missing')) return done(`state-ok ${JSON.stringify(answers)}`)
    return inputRequired({ inputRequests: requests, ...(state === undefined ? {} : { requestState: await state() }) })
  }
}

const firstStep = () => stateCodec.mint({ step: 1 })

const QUESTIONS = {
  name: ask('What is your name?', NAME),
  confirm: ask('Go on?', OK),
  model: askModel('What is the capital of France?'),
  roots: inputRequired.listRoots(),
}

/** Tools that need an answer of the client's user, model or machine before they can give their own. */
export function registerInputTools(server: McpServer): void {
  const tool = (name: string, handler: ReturnType<typeof asking>) =>
    server.registerTool(name, { description: 'Needs an answer of the client first.' }, handler)

  // Revision 2026-07-28: a result asks, the next call answers.
  tool('test_input_required_result_sampling', asking({ capital_question: QUESTIONS.model }))
  tool('test_input_required_result_list_roots', asking({ client_roots: QUESTIONS.roots }))
  tool('test_input_required_result_request_state', asking({ confirm: QUESTIONS.confirm }, firstStep))
  tool('test_input_required_result_tampered_state', asking({ confirm: QUESTIONS.confirm }, firstStep))
  tool('test_missing_capability', asking({ question: QUESTIONS.model }))
  tool('test_streaming_elicitation', asking({ user_name: QUESTIONS.name }))
  tool(
    'test_input_required_result_multiple_inputs',
    asking({ user_name: QUESTIONS.name, greeting: QUESTIONS.model, client_roots: QUESTIONS.roots }, firstStep),
  )

  tool('test_input_required_result_elicitation', async (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_name', NAME)
    if (answer === undefined) return inputRequired({ inputRequests: { user_name: QUESTIONS.name } })
    return done(`Hello, ${answer.name}!`)
  })

  tool('test_input_required_result_multi_round', async (ctx) => {
    const step = ctx.mcpReq.requestState<{ step: number }>()?.step ?? 0
    if (step === 0)
      return inputRequired({
        inputRequests: { step1: QUESTIONS.name },
        requestState: await stateCodec.mint({ step: 1 }),
      })
    if (step === 1)
      return inputRequired({
        inputRequests: { step2: ask('Which color do you like?', COLOR) },
        requestState: await stateCodec.mint({ step: 2 }),
      })
    return done('Thank you for both answers.')
  })

  tool('test_input_required_result_capabilities', (ctx) => {
    // The SDK's own type for the envelope is empty.
    const envelope = ctx.mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined
    const able = envelope?.[CLIENT_CAPABILITIES_META_KEY]
    return asking({
      ...(able?.elicitation === undefined ? {} : { user_name: QUESTIONS.name }),
      ...(able?.sampling === undefined ? {} : { question: QUESTIONS.model }),
    })(ctx)
  })

  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context.' }, (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_context', CONTEXT)
    if (answer === undefined)
      return inputRequired({ inputRequests: { user_context: ask('In which context?', CONTEXT) } })
    return { messages: [{ role: 'user', content: text(`Context: ${answer.context}`) }] }
  })

  // Revisions of 2025: the same way of asking, which needs a session that this server does not keep.
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client.', inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, ctx) => asking({ answer: askModel(prompt) })(ctx),
  )
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user.', inputSchema: z.object({ message: z.string() }) },
    ({ message }, ctx) => asking({ answer: ask(message, z.object({ username: z.string(), email: z.string() })) })(ctx),
  )
  tool('test_elicitation_sep1034_defaults', asking({ answer: inputRequired.elicit(WITH_DEFAULTS) }))
  tool('test_elicitation_sep1330_enums', asking({ answer: inputRequired.elicit(ENUMS) }))
}
