import { agentsAtOnceContract } from '../contracts/agents-at-once'

agentsAtOnceContract('through pgbouncer in transaction mode')
