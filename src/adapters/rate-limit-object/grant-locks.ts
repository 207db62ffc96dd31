import type { GrantLocks } from '../../ports/grant-locks'
import type { GateObject } from './object'

/**
 * Creates grant locks with one object for each grant. Its name cannot be that of a key, since key IDs contain no space.
 */
export const createGrantLocks = (gates: DurableObjectNamespace<GateObject>): GrantLocks => ({
  async begin(grant, presented) {
    const gate = gates.getByName(`grant ${grant}`)
    const request = crypto.randomUUID()
    const verdict = await gate.beginTurn(request, presented)
    return { verdict, finish: (outcome) => Promise.resolve(gate.finishTurn(request, outcome)) }
  },
})
