// A scripted model on loopback, in the three dialects that coding agents speak: it calls the tools that its script names, one after
// the other, and then answers. Its requests are those that a real model would get.
import { createServer } from 'node:http'

/**
 * Returns the model's next step, by the results that it has received so far, as the client showed them; null: it never answers.
 *
 * @typedef {(results: unknown[]) => { tool: string, args: object } | { answer: string } | null} Script
 */

/** Thrown where the model is silent. */
const SILENT = Symbol('silent')

const readBody = async (request) => {
  let text = ''
  for await (const piece of request) text += piece
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const events = (response, list) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of list)
    response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  response.end()
}

/** Returns members named `name` of declared tools, at any depth, with their namespace. */
function* declared(value, namespace) {
  if (Array.isArray(value)) for (const item of value) yield* declared(item, namespace)
  else if (typeof value === 'object' && value !== null) {
    if (typeof value.name === 'string') yield { name: value.name, namespace }
    const inner = value.type === 'namespace' ? value.name : namespace
    for (const key of ['tools', 'functionDeclarations', 'function']) yield* declared(value[key], inner)
  }
}

/** The tool that the script names, under the name that the client gave it; undefined once it answers. */
function next(script, results, body, seen) {
  if (results.length >= seen.received.length) seen.received = results
  const step = script(results)
  if (step === null) throw SILENT
  if ('answer' in step) return { answer: step.answer }
  const tools = [...declared(body.tools)]
  // With the prefix of a client, `context` is the shortest name that ends so.
  const ending = tools.filter(({ name }) => name.endsWith(step.tool)).sort((a, b) => a.name.length - b.name.length)
  const tool = tools.find(({ name }) => name === step.tool) ?? ending[0]
  return tool === undefined ? { answer: `no ${step.tool}` } : { tool, args: step.args }
}

function anthropic(body, script, seen) {
  const results = (body.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [],
  )
  const received = results.map(({ content }) => content)
  const { tool, args, answer } = next(script, received, body, seen)
  const block =
    tool === undefined
      ? { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: answer }, stop: 'end_turn' }
      : {
          start: { type: 'tool_use', id: `toolu_${received.length}`, name: tool.name, input: {} },
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
          stop: 'tool_use',
        }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [], usage }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block.start },
    { type: 'content_block_delta', index: 0, delta: block.delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: block.stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function responses(body, script, seen) {
  const outputs = (Array.isArray(body.input) ? body.input : []).filter(({ type }) => type === 'function_call_output')
  const received = outputs.map(({ output }) => output)
  const { tool, args, answer } = next(script, received, body, seen)
  const item =
    tool === undefined
      ? { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: answer }] }
      : {
          type: 'function_call',
          id: `fc_${received.length}`,
          status: 'completed',
          call_id: `call_${received.length}`,
          name: tool.name,
          ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
          arguments: JSON.stringify(args),
        }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const delta = { item_id: 'msg_1', output_index: 0, content_index: 0, delta: answer }
  return [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: body.model } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...(tool === undefined ? [{ type: 'response.output_text.delta', ...delta }] : []),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', usage, output: [item] } },
  ]
}

function gemini(body, script, seen) {
  const parts = (body.contents ?? []).flatMap((content) => content.parts ?? [])
  // Content after a response, such as an image, belongs to it.
  const received = []
  for (const part of parts)
    if ('functionResponse' in part) received.push([part])
    else if ('inlineData' in part) received.at(-1)?.push(part)
  const { tool, args, answer } = next(script, received, body, seen)
  const part = tool === undefined ? { text: answer } : { functionCall: { name: tool.name, args } }
  return [{ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] }]
}

/**
 * @param {number} port 0 for any
 * @param {Script} script
 * @returns what it saw, and how to end it
 */
export async function startModel(port, script) {
  const seen = { requests: [], tools: [], received: [], asked: [], bodies: [] }
  const answer = async (request, response) => {
    const body = await readBody(request)
    seen.bodies.push(body)
    const { pathname } = new URL(request.url, 'http://model')
    seen.requests.push(`${request.method} ${pathname}`)
    const names = [...declared(body.tools)].map(({ name }) => name)
    if (names.length > seen.tools.length) seen.tools = names
    if (Array.isArray(body.messages)) seen.asked = body.messages
    if (pathname.endsWith('/messages')) return events(response, anthropic(body, script, seen))
    if (pathname.endsWith('/responses')) return events(response, responses(body, script, seen))
    if (pathname.includes(':streamGenerateContent')) return events(response, gemini(body, script, seen))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        pathname.includes(':generateContent')
          ? gemini(body, script, seen)[0]
          : { input_tokens: 1, data: [], models: [] },
      ),
    )
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (error !== SILENT) response.destroy(error)
    })
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { seen, port: server.address().port, stop }
}
