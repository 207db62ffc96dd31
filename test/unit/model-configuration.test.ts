import { expect, it } from 'vitest'
import { parseConfig } from '../../src/config'

/** The rules for the configuration of models, checked before a server starts with it. */
const MISSING = /OPENAI_API_KEY is not set, but https:\/\/api\.openai\.com\/v1 requires it/

it('names a missing OPENAI_API_KEY where a provider asks OpenAI itself', () => {
  expect(() => parseConfig({ EMBEDDING_PROVIDER: 'openai' })).toThrow(MISSING)
  expect(() => parseConfig({ SUMMARY_PROVIDER: 'openai', SUMMARY_MODEL: 'one' })).toThrow(MISSING)
  expect(() => parseConfig({ RERANKING_PROVIDER: 'openai', RERANKING_MODEL: 'one' })).toThrow(MISSING)
})

it('lets another server do without a key, and what is switched off', () => {
  const local = { OPENAI_API_BASE: 'http://localhost:1234/v1' }
  for (const env of [
    { EMBEDDING_PROVIDER: 'openai', OPENAI_API_KEY: 'key' },
    { EMBEDDING_PROVIDER: 'openai', ...local },
    { EMBEDDING_PROVIDER: 'openai', ENABLE_SEMANTIC_SEARCH: 'false' },
    { EMBEDDING_PROVIDER: 'local' },
  ])
    expect(parseConfig(env).embedding.provider).toBe(env.EMBEDDING_PROVIDER)
})

it('refuses a mirror of models that is not a URL', () => {
  expect(() => parseConfig({ MODEL_URL: 'mirror' })).toThrow(/MODEL_URL is not an http or https URL/)
})
