import type { GrantLocks } from '../../ports/grant-locks'
import type { GateObject } from './object'

/** One object a grant; its name cannot be that of a key, since no key's id holds a space. */
export const createGrantLocks = (gates: DurableObjectNamespace<GateObject>): GrantLocks => ({
  async begin(grant, presented) {
    const gate = gates.getByName(`grant ${grant}`)
    const request = crypto.randomUUID()
    const verdict = await gate.beginTurn(request, presented)
    return { verdict, finish: (outcome) => Promise.resolve(gate.finishTurn(request, outcome)) }
  },
})
