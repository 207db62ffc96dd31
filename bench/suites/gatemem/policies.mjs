// Read access to each turn, configured as an operator would. GateMem states its rules in the text of the turns, for a model to follow; a
// store enforces keys, projects and erasures. So the rules come from its labels, and the bench measures whether the store enforces them.

/**
 * @typedef {object} Policy
 * @property {string} name
 * @property {(episode: import('./read.mjs').Episode) => (string | null)[]} projectsOf the project of each turn; null: everybody's
 * @property {(episode: import('./read.mjs').Episode, asker: string) => string[] | null} openTo projects of a principal's key; null: not narrowed
 * @property {boolean} erases whether turns to be forgotten are erased before they are searched
 */

/** Everything is shared and nothing is forgotten: the baseline of a memory without rules. */
const SHARED = { name: 'shared', projectsOf: ({ turns }) => turns.map(() => null), openTo: () => null, erases: false }

/** Per turn the principals to whom a checkpoint of privacy would call its words a leak. */
function deniedOf(episode) {
  const privacy = episode.checkpoints.filter(({ kind }) => kind === 'privacy')
  return episode.turns.map(({ text }) => [
    ...new Set(privacy.filter(({ leaks }) => leaks.some((leak) => leak.test(text))).map(({ asker }) => asker)),
  ])
}

const nameOf = (denied) => `without ${denied.toSorted().join(' ')}`

const LABELLED = {
  name: 'labelled',
  projectsOf: (episode) => deniedOf(episode).map((denied) => (denied.length === 0 ? null : nameOf(denied))),
  openTo(episode, asker) {
    const groups = deniedOf(episode).filter((denied) => denied.length > 0)
    const open = groups.filter((denied) => !denied.includes(asker)).map(nameOf)
    return [...new Set([...open, 'own'])]
  },
  erases: true,
}

/** @type {readonly Policy[]} */
export const POLICIES = [SHARED, LABELLED]
