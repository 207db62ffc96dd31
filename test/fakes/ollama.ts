import { type ModelServer, type Received, type Reply, startModelServer } from './model-server'
import { vectorOf } from './vectors'

/** Ollama's protocol: embeddings, chat, and its two kinds of 404. */
export interface FakeOllama {
  readonly models?: readonly string[]
  readonly dimensions?: number
  /** The answer of the chat model. */
  readonly answer?: string
  /** Code points that the model can read; more is refused, as Ollama since 0.13.5 does even with truncation. */
  readonly context?: number
  /** Texts that it still embeds; beyond them it refuses, as a model that stopped in the middle of a call. */
  readonly manages?: { left: number }
  /** Where it reranks; a real Ollama does nowhere. */
  readonly rerankPath?: string
}

const missing = (model: string): Reply => ({
  status: 404,
  json: { error: `model "${model}" not found, try pulling it first` },
})

export async function startOllama({
  models = ['a-model'],
  dimensions = 8,
  answer = 'A summary.',
  context = Number.POSITIVE_INFINITY,
  manages = { left: Number.POSITIVE_INFINITY },
  rerankPath,
}: FakeOllama = {}): Promise<ModelServer> {
  return await startModelServer(({ path, body }: Received): Reply => {
    const served = ['/api/embed', '/api/chat', '/api/show', rerankPath]
    if (!served.includes(path)) return { status: 404, text: '404 page not found' }
    if (!models.includes(body.model)) return missing(body.model)
    if (path === '/api/show') return { json: { details: { family: 'fake' } } }
    if (path === '/api/chat')
      return { json: { model: body.model, message: { role: 'assistant', content: answer }, done: true } }
    if (path === '/api/embed') {
      const texts = [body.input].flat() as string[]
      if (texts.some((text) => [...text].length > context))
        return { status: 400, json: { error: 'the input length exceeds the context length' } }
      if (manages.left < texts.length) return { status: 400, json: { error: 'the model stopped' } }
      manages.left -= texts.length
      return { json: { model: body.model, embeddings: texts.map((text) => vectorOf(text, dimensions)) } }
    }
    return { json: { model: body.model, results: ranked(body.query, body.documents) } }
  })
}

/** Scores by the length of the document, best first, as rerankers answer. */
export const ranked = (_query: string, documents: readonly string[]) =>
  documents
    .map((document, index) => ({ index, relevance_score: Math.min(1, document.length / 100) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
