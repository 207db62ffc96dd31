import { agentsAtOnceContract } from '../contracts/agents-at-once'

// Longer in the nightly tier.
agentsAtOnceContract('through pgbouncer in transaction mode')
