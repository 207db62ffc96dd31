import { FTS_LANGUAGES } from '../../src/config'
import { loadStemmer } from '../../src/domain/search/analysis'

// Loads the stemmers of all languages, so that tests create analyzers without waiting.
await Promise.all(FTS_LANGUAGES.map(loadStemmer))
