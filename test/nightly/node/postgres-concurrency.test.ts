import { agentsAtOnceContract } from '../../contracts/agents-at-once'

agentsAtOnceContract('directly', 30)
agentsAtOnceContract('through pgbouncer in transaction mode', 30)
