// What lives as long as an isolate, and is the same for all of its requests.

import type { Levels } from '../domain/recall/similarity'
import { type Analyzer, createAnalyzer } from '../domain/search/analysis'
import type { Millis } from '../domain/time'
import type { CatchUpState } from '../services/keeping/catch-up'
import { createEmbeddingTurn, type EmbeddingTurn } from '../services/keeping/outbox-work'
import type { PendingState } from '../services/keeping/pending-index'
import type { NamesCache } from '../services/people/project-names'
import type { Bindings } from './bindings'

/** Analyzers remember what words become, so each lives as long as the isolate. */
const analyzers = new Map<string, Analyzer>()

export function analyzerFor(language: string): Analyzer {
  const analyzer = analyzers.get(language) ?? createAnalyzer(language)
  analyzers.set(language, analyzer)
  return analyzer
}

const databaseOf = ({ DB, HYPERDRIVE }: Bindings): object => HYPERDRIVE ?? DB ?? {}

/** State of catching up in this isolate, by database and model. */
const catchingUp = new WeakMap<object, Map<string, CatchUpState>>()

/** @param model whose vectors are made; null for none */
export function catchUpState(bindings: Bindings, model: string | null): CatchUpState {
  const database = databaseOf(bindings)
  const states = catchingUp.get(database) ?? new Map<string, CatchUpState>()
  catchingUp.set(database, states)
  const state = states.get(model ?? '') ?? { missed: null, running: false }
  states.set(model ?? '', state)
  return state
}

/** Since when this isolate knows its databases. */
const pending = new WeakMap<object, PendingState>()

export function pendingState(bindings: Bindings, now: Millis): PendingState {
  const database = databaseOf(bindings)
  const state = pending.get(database) ?? { since: now, embedsAgainAt: 0 }
  pending.set(database, state)
  return state
}

/** Who makes vectors that were queued, by database. */
const embedding = new WeakMap<object, EmbeddingTurn>()

export function embeddingTurn(bindings: Bindings, now: () => Millis): EmbeddingTurn {
  const database = databaseOf(bindings)
  const turn = embedding.get(database) ?? createEmbeddingTurn(now)
  embedding.set(database, turn)
  return turn
}

/** Resolved names of projects, by database. */
const projectNames = new WeakMap<object, NamesCache>()

export function namesCacheOf(bindings: Bindings): NamesCache {
  const database = databaseOf(bindings)
  const cache = projectNames.get(database) ?? new Map()
  projectNames.set(database, cache)
  return cache
}

/** What cosines of models mean, by database. */
const levels = new WeakMap<object, Map<string, Levels>>()

export function levelsOf(bindings: Bindings): Map<string, Levels> {
  const database = databaseOf(bindings)
  const known = levels.get(database) ?? new Map<string, Levels>()
  levels.set(database, known)
  return known
}
