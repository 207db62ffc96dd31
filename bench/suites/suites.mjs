// The suites whose questions name what answers them, and where a person gets their data.
import { readBeam } from './read/beam.mjs'
import { readConversations } from './read/conversation.mjs'
import { readLongMemEval } from './read/longmemeval.mjs'

/**
 * @typedef {object} Suite
 * @property {string} where its data are had, for a person
 * @property {string} licence
 * @property {string} unit what one document is
 * @property {(path: string) => import('../retrieval/collection.mjs').Collection & { leftOut: Record<string, number> }} read
 */

/** @type {Record<string, Suite>} */
export const SUITES = {
  locomo: {
    where:
      'git clone https://github.com/snap-research/locomo; --data locomo/data/locomo10.json (ten conversations, CC BY-NC 4.0)',
    licence: 'CC BY-NC 4.0',
    unit: 'a turn, as `speaker: words`, with the caption of a shared photo',
    read: readConversations,
  },
  realtalk: {
    where: 'git clone https://github.com/danny911kr/REALTALK; --data REALTALK/data (its ten Chat_*.json)',
    licence: 'none stated in its repository',
    unit: 'a message, as `speaker: words`',
    read: readConversations,
  },
  beam: {
    where: 'git clone https://github.com/mohammadtavakoli78/BEAM; --data BEAM/chats/100K (or 500K, 1M)',
    licence: 'CC BY-SA 4.0 by its card',
    unit: 'a message whole',
    read: readBeam,
  },
  longmemeval: {
    where: `from the dataset xiaowu0162/longmemeval-cleaned of Hugging Face: longmemeval_s_cleaned.json; compare its SHA-256 with the one
    that the page of the file shows; --data longmemeval_s_cleaned.json (MIT)`,
    licence: 'MIT',
    unit: 'a turn whole, searched in the history of its question',
    read: readLongMemEval,
  },
}
