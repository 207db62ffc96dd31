import type { Log } from '../http/log'
import type { Embedder } from '../ports/embedder'
import type { VectorIndex } from '../ports/vector-index'

/** Says to the log, and so to what measures a request, how long a stage took. */
const timing =
  (stage: 'embed' | 'index', log: Log) =>
  <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
  async (...args: Args): Promise<Result> => {
    const begun = Date.now()
    try {
      return await work(...args)
    } finally {
      log('DEBUG', 'stage', { stage, milliseconds: Date.now() - begun })
    }
  }

/** The model, with a watch beside it; what tells nothing of time passes as it is. */
export function timedEmbedder(embedder: Embedder, log: Log): Embedder {
  const timed = timing('embed', log)
  const { embed, embedInTime, embedPatiently } = embedder
  return {
    ...embedder,
    embed: timed(embed.bind(embedder)),
    ...(embedInTime && { embedInTime: timed(embedInTime.bind(embedder)) }),
    ...(embedPatiently && { embedPatiently: timed(embedPatiently.bind(embedder)) }),
  }
}

/** The index of vectors likewise. What it asks of a database counts there too. */
export function timedIndex(index: VectorIndex, log: Log): VectorIndex {
  const timed = timing('index', log)
  const { search, nearby, apply, settle, state } = index
  return {
    ...index,
    search: timed(search.bind(index)),
    nearby: nearby === null ? null : timed(nearby.bind(index)),
    apply: timed(apply.bind(index)),
    settle: timed(settle.bind(index)),
    state: timed(state.bind(index)),
  }
}
