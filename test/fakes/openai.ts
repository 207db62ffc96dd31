import { type ModelServer, type Received, type Reply, startModelServer } from './model-server'
import { ranked } from './ollama'
import { vectorOf } from './vectors'

/** The protocol that OpenAI's API shares with its imitators, below `/v1`. */
export interface FakeOpenAi {
  /** Null: no key is wanted. */
  readonly key?: string | null
  readonly models?: readonly string[]
  readonly dimensions?: number
  readonly answer?: string
  readonly reranks?: boolean
}

const refuses = (status: number, message: string, code: string): Reply => ({
  status,
  json: { error: { message, type: 'invalid_request_error', code } },
})

export async function startOpenAi({
  key = null,
  models = ['a-model'],
  dimensions = 8,
  answer = 'A summary.',
  reranks = true,
}: FakeOpenAi = {}): Promise<ModelServer> {
  return await startModelServer(({ path, headers, body }: Received): Reply => {
    if (key !== null && headers.authorization !== `Bearer ${key}`)
      return refuses(401, `Incorrect API key provided: ${headers.authorization}.`, 'invalid_api_key')
    const served = ['/v1/embeddings', '/v1/chat/completions', ...(reranks ? ['/v1/rerank'] : [])]
    if (!served.includes(path)) return { status: 404, json: { detail: 'Not Found' } }
    if (!models.includes(body.model)) return refuses(404, `The model '${body.model}' does not exist`, 'model_not_found')
    if (path === '/v1/chat/completions')
      return { json: { choices: [{ index: 0, message: { role: 'assistant', content: answer } }] } }
    if (path === '/v1/rerank') return { json: { results: ranked(body.query, body.documents) } }
    const data = (body.input as string[]).map((text, index) => ({
      object: 'embedding',
      index,
      embedding: vectorOf(text, body.dimensions ?? dimensions),
    }))
    // Out of order, since nothing promises an order.
    return { json: { object: 'list', data: data.reverse() } }
  })
}
