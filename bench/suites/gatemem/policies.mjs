// Who may read which turn, as an operator could tell the store. GateMem tells its rules in the words of the turns, for a model to heed; a
// store heeds keys, projects and erasures. So the rules are taken from its labels: what is measured is whether the store keeps them.

/**
 * @typedef {object} Policy
 * @property {string} name
 * @property {(episode: import('./read.mjs').Episode) => (string | null)[]} projectsOf the project of each turn; null: everybody's
 * @property {(episode: import('./read.mjs').Episode, asker: string) => string[] | null} openTo projects of a principal's key; null: not narrowed
 * @property {boolean} erases whether what was to be forgotten is erased before it is asked for
 */

/** Everything is everybody's and nothing is forgotten: what any memory without rules gives. */
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
