/**
 * Embedding models that were trained with marks on queries or documents lose several points of recall without them. The
 * marks are those of the model cards; a model that is not listed (bge-m3, text-embedding-3, all-minilm …) takes plain text.
 */
interface Marks {
  readonly models: RegExp
  readonly query: string
  readonly document: string
}

const ASK = 'Given a search query, retrieve relevant passages that answer the query'
const SENTENCE = 'Represent this sentence for searching relevant passages: '

/** The first that fits the lower-cased name of the model counts. */
const MARKS: readonly Marks[] = [
  { models: /qwen3-embedding|e5-.*instruct/, query: `Instruct: ${ASK}\nQuery: `, document: '' },
  { models: /nomic-embed/, query: 'search_query: ', document: 'search_document: ' },
  { models: /embeddinggemma/, query: 'task: search result | query: ', document: 'title: none | text: ' },
  { models: /(^|[/-])e5-/, query: 'query: ', document: 'passage: ' },
  { models: /arctic-embed-?(2|[lm]-v2)/, query: 'query: ', document: '' },
  { models: /arctic-embed|mxbai-embed|bge-(small|base|large)-en/, query: SENTENCE, document: '' },
]

const PLAIN = { query: '', document: '' }

/** What to write before a text, by what it is embedded for. */
export function retrievalMarks(model: string): { readonly query: string; readonly document: string } {
  const name = model.toLowerCase()
  return MARKS.find(({ models }) => models.test(name)) ?? PLAIN
}
