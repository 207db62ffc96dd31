// A scripted model on loopback, in the three dialects that coding agents speak: its first answer calls get_context_by_ids, its
// second says that it is done. What the client then sent it is what a real model would have seen.
import { createServer } from 'node:http'

const TOOL = 'get_context_by_ids'

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

/** Members named `name` of whatever declares tools, at any depth, with the namespace they stand in. */
function* declared(value, namespace) {
  if (Array.isArray(value)) for (const item of value) yield* declared(item, namespace)
  else if (typeof value === 'object' && value !== null) {
    if (typeof value.name === 'string') yield { name: value.name, namespace }
    const inner = value.type === 'namespace' ? value.name : namespace
    for (const key of ['tools', 'functionDeclarations', 'function']) yield* declared(value[key], inner)
  }
}

function anthropic(body, args, seen) {
  const results = (body.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [],
  )
  const tool = [...declared(body.tools)].find(({ name }) => name.endsWith(TOOL))
  if (results.length > 0) seen.received = results.map(({ content }) => content)
  const block =
    results.length > 0 || tool === undefined
      ? { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'done' }, stop: 'end_turn' }
      : {
          start: { type: 'tool_use', id: 'toolu_1', name: tool.name, input: {} },
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

function responses(body, args, seen) {
  const outputs = (Array.isArray(body.input) ? body.input : []).filter(({ type }) => type === 'function_call_output')
  const tool = [...declared(body.tools)].find(({ name }) => name.endsWith(TOOL))
  if (outputs.length > 0) seen.received = outputs.map(({ output }) => output)
  const item =
    outputs.length > 0 || tool === undefined
      ? { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'done' }] }
      : {
          type: 'function_call',
          call_id: 'call_1',
          name: tool.name,
          ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
          arguments: JSON.stringify(args),
        }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', usage, output: [item] } },
  ]
}

function gemini(body, args, seen) {
  const parts = (body.contents ?? []).flatMap((content) => content.parts ?? [])
  const results = parts.filter((part) => 'functionResponse' in part)
  const tool = [...declared(body.tools)].find(({ name }) => name.endsWith(TOOL))
  if (results.length > 0) seen.received = parts.filter((part) => 'functionResponse' in part || 'inlineData' in part)
  const part = results.length > 0 || tool === undefined ? { text: 'done' } : { functionCall: { name: tool.name, args } }
  return [{ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] }]
}

/** @param args what the scripted call asks for @returns what it saw, and how to end it */
export async function startModel(port, args) {
  const seen = { requests: [], tools: [], received: null }
  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    const { pathname } = new URL(request.url, 'http://model')
    seen.requests.push(`${request.method} ${pathname}`)
    const names = [...declared(body.tools)].map(({ name }) => name)
    if (names.length > seen.tools.length) seen.tools = names
    if (pathname.endsWith('/messages')) return events(response, anthropic(body, args, seen))
    if (pathname.endsWith('/responses')) return events(response, responses(body, args, seen))
    if (pathname.includes(':streamGenerateContent')) return events(response, gemini(body, args, seen))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        pathname.includes(':generateContent') ? gemini(body, args, seen)[0] : { input_tokens: 1, data: [], models: [] },
      ),
    )
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { seen, stop: () => server.close() }
}
