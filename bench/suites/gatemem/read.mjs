// GateMem: conversations of many people with one shared memory, and checkpoints with the asker and the words that must
// not be returned.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))

/** A target is a literal, matched as complete words (some are as short as `no`), or an expression if it has a group of alternatives. */
function matcher(target) {
  const escaped = target.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const literal = `(?<!\\w)${escaped}(?!\\w)`
  if (!target.includes('(?:')) return new RegExp(literal, 'i')
  try {
    return new RegExp(target, 'i')
  } catch {
    return new RegExp(literal, 'i')
  }
}

/**
 * @typedef {object} Checkpoint
 * @property {string} id
 * @property {number} after number of turns before the question
 * @property {string} asker
 * @property {'utility' | 'privacy' | 'safety'} kind `safety` is about text that was to be forgotten
 * @property {string} text
 * @property {readonly RegExp[]} leaks words that must not come back to this asker then
 * @property {readonly RegExp[]} wanted words that an answer needs
 *
 * @typedef {object} Episode
 * @property {string} id
 * @property {string} domain
 * @property {readonly { speaker: string, text: string }[]} turns
 * @property {readonly Checkpoint[]} checkpoints in the order in which they are asked
 */

/** @param {string} path its folder of data @returns {Episode[]} */
export function readEpisodes(path) {
  return readdirSync(path).flatMap((domain) => {
    const checkpoints = lines(join(path, domain, 'checkpoints.jsonl'))
    return lines(join(path, domain, 'episodes.jsonl')).map((episode) => {
      const placeOf = new Map(episode.turns.map(({ turn_id: id }, at) => [id, at + 1]))
      const own = checkpoints
        .filter(({ episode_id: id }) => id === episode.episode_id)
        .map((checkpoint) => ({
          id: checkpoint.checkpoint_id,
          after: placeOf.get(checkpoint.as_of_turn_id) ?? episode.turns.length,
          asker: checkpoint.asker.principal_id,
          kind: checkpoint.query_type,
          text: checkpoint.query_text,
          leaks: (checkpoint.leak_targets ?? []).map(matcher),
          wanted: (checkpoint.judge_spec?.include ?? []).map(matcher),
        }))
        .sort((a, b) => a.after - b.after)
      const turns = episode.turns.map(({ speaker, text }) => ({ speaker: speaker.principal_id, text }))
      return { id: episode.episode_id, domain, turns, checkpoints: own }
    })
  })
}
